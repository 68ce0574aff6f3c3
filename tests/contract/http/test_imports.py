"""Import of a table over HTTP."""

from base64 import b64encode
from typing import Any

import pytest

from phoneprov_adapters.security.credentials import Argon2Hasher
from support.api import Api, Caller, data_of, error_of
from support.excel import excel, with_parts

PHONES = "mac,model,location\n00:1B:D4:00:00:01,CP-7945G,Hall\n001bd4000002,CP-7945G,Annex\n"
WRONG = PHONES + "nonsense,CP-7945G,Annex\n00:1B:D4:00:00:03,7945\n"


async def send(caller: Caller, csv: str, **options: Any) -> Any:
    return await caller.post("/imports/phones", {"csv": csv, **options})


async def count(caller: Caller) -> int:
    return len(data_of(await caller.get("/phones")))


async def test_import_dry_run_reports_the_result_of_each_row(admin: Caller) -> None:
    data_of(await admin.post("/phones", {"mac": "00:1B:D4:00:00:01", "model": "CP-7945G"}), 201)

    result = data_of(await send(admin, WRONG, dry_run=True), 200, "Nothing was written")

    assert [(row["line"], row["outcome"]) for row in result["rows"]] == [
        (2, "updated"), (3, "created"), (4, "failed"), (5, "failed"),
    ]  # fmt: skip
    assert [problem["field"] for problem in result["rows"][2]["problems"]] == ["mac"]
    assert (result["total"], result["failed"], result["written"]) == (4, 2, False)
    assert await count(admin) == 1


async def test_import_row_shows_old_and_new_values_and_no_secret(admin: Caller) -> None:
    data_of(await send(admin, PHONES))
    (row, _) = data_of(await send(admin, PHONES.replace("Hall", "Hall 2"), dry_run=True))["rows"]
    assert row["changes"] == {"location": {"old": "Hall", "new": "Hall 2"}}

    lines = "type,extension,name,password,voicemail_passcode\nchan_sccp,2001,{},first secret,1357\n"
    for name, outcome, changes in (
        ("Hall", "created", {}),
        ("Hall", "unchanged", {}),
        ("Porter", "updated", {"name": {"old": "Hall", "new": "Porter"}}),
    ):
        order: dict[str, Any] = {"csv": lines.format(name), "dry_run": outcome == "updated"}
        (row,) = data_of(await admin.post("/imports/extensions", order))["rows"]
        assert (row["outcome"], row["changes"]) == (outcome, changes)
    order["csv"] = order["csv"].replace("first", "second").replace("1357", "2468")
    (row,) = data_of(await admin.post("/imports/extensions", order))["rows"]
    assert row["changes"]["password"] == row["changes"]["voicemail_passcode"] == "changed"


async def test_import_writes_all_rows_or_none(admin: Caller) -> None:
    refused = data_of(await send(admin, WRONG), 200, "Nothing was written")
    assert (refused["written"], await count(admin)) == (False, 0)

    written = data_of(await send(admin, PHONES), 200, "Table imported")
    assert (written["written"], written["created"], await count(admin)) == (True, 2, 2)

    again = data_of(await send(admin, PHONES))
    assert [row["outcome"] for row in again["rows"]] == ["unchanged", "unchanged"]


async def test_import_keep_going_skips_wrong_rows(admin: Caller) -> None:
    result = data_of(await send(admin, WRONG, keep_going=True), 200, "Table imported")

    assert (result["created"], result["failed"], await count(admin)) == (2, 2, 2)


async def test_import_stray_quotation_mark_is_an_error_of_its_line(admin: Caller) -> None:
    result = data_of(await send(admin, PHONES + 'SEP001BD4000003,"CP-7945G,Annex\n', dry_run=False))

    (row,) = [row for row in result["rows"] if row["outcome"] == "failed"]
    assert (row["line"], result["written"], await count(admin)) == (4, False, 0)
    assert "never closed" in row["problems"][0]["message"]


@pytest.mark.parametrize("csv", ["", "nonsense\n1\n", "mac,mac\n"])
async def test_import_wrong_columns_are_problems_of_line_1(admin: Caller, csv: str) -> None:
    result = data_of(await send(admin, csv))

    assert {row["line"] for row in result["rows"]} == {1}
    assert result["written"] is False


PEOPLE = "username,first_name,last_name,email,password\n{0},{0},X,{0}@example.com,{1}\n"


async def test_imported_user_without_a_password_logs_in_after_getting_one(
    admin: Caller, anonymous: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str | None] = []
    original = Argon2Hasher.verify

    async def verify(self: Argon2Hasher, password: str, hash_: str | None, **how: Any) -> bool:
        verified.append(hash_)
        return await original(self, password, hash_, **how)

    result = data_of(await admin.post("/imports/users", {"csv": PEOPLE.format("grace", "")}))
    again = data_of(await admin.post("/imports/users", {"csv": PEOPLE.format("grace", "")}))
    assert [row["outcome"] for row in (*result["rows"], *again["rows"])] == ["created", "unchanged"]
    monkeypatch.setattr(Argon2Hasher, "verify", verify)

    replies = []
    for name in ("grace", "unknown"):
        for password in ("", "a long one for grace"):
            body = {"username": name, "password": password}
            reply = (await anonymous.post("/auth/login", body)).json()
            reply["error"].pop("request_id")
            replies.append(reply)
    assert all(reply == replies[0] for reply in replies)
    assert verified == [None] * len(replies)

    (grace,) = data_of(await admin.get("/users", q="grace"))
    data_of(await admin.put(f"/users/{grace['uuid']}", {"password": "a long one for grace"}))
    body = {"username": "grace", "password": "a long one for grace"}
    assert data_of(await anonymous.post("/auth/login", body))["accessToken"]


async def test_user_without_a_password_is_created_by_imports_only(admin: Caller) -> None:
    body = {"username": "x", "first_name": "X", "last_name": "X", "email": "x@example.com"}

    assert list(error_of(await admin.post("/users", body), 422)) == ["password"]


async def test_import_of_pins_sets_them(api: Api, admin: Caller, ada: Caller) -> None:
    csv = 'username,pin_code\nada,="0815"\nada,1234\nbob,1234\nadmin,12\n'
    wrong = data_of(await admin.post("/imports/pins", {"csv": csv}))
    assert [(row["line"], row["outcome"]) for row in wrong["rows"]] == [
        (2, "created"), (3, "failed"), (4, "failed"), (5, "failed"),
    ]  # fmt: skip
    assert not wrong["written"]
    assert "1234" not in str(wrong)
    error_of(await admin.get(f"/vendor-users/by-user/{ada.uuid}"), 404)

    ok = {"csv": "username,pin_code\nADA,4711\nadmin,\n"}
    outcomes = []
    for dry_run in (True, False, False):
        result = data_of(await admin.post("/imports/pins", {**ok, "dry_run": dry_run}))
        outcomes.append([row["outcome"] for row in result["rows"]])

    assert outcomes == [
        ["created", "unchanged"],
        ["created", "unchanged"],
        ["updated", "unchanged"],
    ]
    stored = data_of(await admin.get(f"/vendor-users/by-user/{ada.uuid}"))
    hasher = api.container.vendor_users().hasher
    assert await hasher.verify_pin("4711", stored["pin_code"])


async def test_import_of_pins_is_refused_with_an_api_token(api: Api, admin: Caller) -> None:
    body = {"name": "script", "expires_at": None, "read_only": False}
    token = data_of(await admin.post("/me/tokens", body), 201)["token"]
    script = Caller(api.client, admin.uuid, token)

    for dry_run in (True, False):
        body = {"csv": "username,pin_code\nadmin,4711\n", "dry_run": dry_run}
        error_of(await script.post("/imports/pins", body), 403)


async def test_import_of_links_gives_users_their_extensions(admin: Caller, ada: Caller) -> None:
    numbers = [str(number) for number in range(1020, 1000, -1)]
    rows = "".join(f"custom,{number},Hall,pw\n" for number in numbers)
    lines = {"csv": f"type,extension,name,password\n{rows}"}
    data_of(await admin.post("/imports/extensions", lines))
    rows = "".join(f"ada;{number};Ada\n" for number in (*numbers, numbers[0]))
    csv = f"username;extension;(first name)\n{rows}"
    wrong = "username,extension\nada,\nada,9999\nnone,1001\nada,1001.0\n"

    refused = data_of(await admin.post("/imports/user-extensions", {"csv": wrong}))
    first = data_of(await admin.post("/imports/user-extensions", {"csv": csv}))
    again = data_of(await admin.post("/imports/user-extensions", {"csv": csv}))

    assert refused["failed"] == 4
    assert (first["created"], first["unchanged"], again["unchanged"]) == (20, 1, 21)
    linked = data_of(await admin.get(f"/user-extensions/by-user/{ada.uuid}"))
    assert [one["extension"] for one in linked] == numbers


async def test_import_of_templates_and_profiles_that_name_them(admin: Caller, ada: Caller) -> None:
    templates = "name,body\noffice,<device><vlan>{{ values.vlan }}</vlan></device>\n"
    profiles = (
        "username,name,template,values.vlan,cnf_xml\nada,Desk,office,12,\nada,Own,,,<device/>\n"
    )
    for kind, csv, rows in (("templates", templates, 1), ("profiles", profiles, 2)):
        for outcome in ("created", "unchanged"):
            result = data_of(await admin.post(f"/imports/{kind}", {"csv": csv}))
            assert result[outcome] == rows, result

    found = (await admin.get("/phone-profiles", user_uuid=ada.uuid)).json()["data"]
    (desk, own) = sorted(found, key=lambda one: str(one["name"]))
    assert (desk["template"], desk["values"]) == ("office", {"vlan": "12"})
    assert (own["cnf_xml"], own["user_uuid"]) == ("<device/>", ada.uuid)


@pytest.mark.parametrize("kind", ["profiles", "templates"])
async def test_import_over_http_reads_no_file_of_the_server(admin: Caller, kind: str) -> None:
    csv = "username,name,file\nadmin,x,/etc/passwd\n"

    result = data_of(await admin.post(f"/imports/{kind}", {"csv": csv}))

    assert "file" in {one["field"] for one in result["rows"][0]["problems"]}
    assert result["written"] is False


async def test_import_reports_numbers_that_phones_do_not_offer(admin: Caller) -> None:
    csv = "name,work,mobile\nAda,+49 30 1 / +49 30 2,Reception\nBob,1001,\n"

    result = data_of(await admin.post("/imports/company-directory", {"csv": csv}))

    assert result["written"]
    assert [row["notes"] for row in result["rows"]] == [
        [
            {"field": "mobile", "message": "has no number that a phone can dial"},
            {"field": "work", "message": "has 2 numbers; phones offer the first, +49301"},
        ],
        [],
    ]


async def test_import_unknown_kind_is_404_and_invalid_fields_are_named(admin: Caller) -> None:
    error_of(await admin.post("/imports/sessions", {"csv": PHONES}), 404)
    assert list(error_of(await admin.post("/imports/phones", {"file": "x"}), 422)) == [
        "file", "csv",
    ]  # fmt: skip


STAFF = "key,username,first_name,last_name,email\n" + "".join(
    f"k{n},user{n},Given,Name{n},user{n}@office.example\n" for n in range(1, 13)
)


async def sync(caller: Caller, csv: str, **options: Any) -> Any:
    return await caller.post("/imports/users", {"csv": csv, "source": "entra", **options})


async def test_people_of_a_source_are_matched_by_key_and_missing_ones_deactivated(
    admin: Caller,
) -> None:
    first = data_of(await sync(admin, STAFF), 200, "Table imported")
    changed = STAFF.replace("k1,user1,", "k1,ada,").replace(STAFF.splitlines()[12] + "\n", "")
    second = data_of(await sync(admin, changed), 200, "Table imported")
    refused = await sync(admin, "".join(STAFF.splitlines(keepends=True)[:4]))
    forced = data_of(await sync(admin, "".join(changed.splitlines(keepends=True)[:4]), most=100))

    assert (first["created"], first["deactivated"]) == (12, [])
    assert second["rows"][0]["changes"] == {"username": {"old": "user1", "new": "ada"}}
    assert second["deactivated"] == ["user12"]
    error_of(refused, 409, "sync_refused")
    assert len(forced["deactivated"]) == 8


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"source": "Entra ID"}, "source"),
        ({"most": 101}, "most"),
        ({"missing": "delete"}, "missing"),
        ({"keep_going": True}, "keep_going"),
    ],
)
async def test_wrong_option_of_a_sync_is_named(
    admin: Caller, options: dict[str, Any], field: str
) -> None:
    assert list(error_of(await sync(admin, STAFF, **options), 422)) == [field]


async def test_options_of_a_sync_need_a_source_and_users(admin: Caller) -> None:
    without = await admin.post("/imports/users", {"csv": STAFF, "adopt": True})
    phones = await admin.post("/imports/phones", {"csv": PHONES, "source": "entra"})

    for response in (without, phones):
        assert list(error_of(response, 422)) == ["source"]


DIRECTORY: list[list[Any]] = [
    ["key", "username", "first_name", "last_name", "email", "phone"],
    ["1", "ada", "Ada", "Lovelace", "ada@example.com", "0301"],
    [],
    ["2", "bob", "Bob", "Barton", "bob@example.com", 302],
]


def body_of(file: bytes, **options: Any) -> dict[str, Any]:
    return {"xlsx": b64encode(file).decode(), **options}


async def test_import_of_an_excel_file_follows_the_rules_of_csv(admin: Caller) -> None:
    table = [["mac", "model", "location"], ["001bd4000001", "CP-7945G", "Hall"], ["no", "", ""]]
    wrong = data_of(await admin.post("/imports/phones", body_of(excel(table))), 200)
    assert [(row["line"], row["outcome"]) for row in wrong["rows"]] == [
        (2, "created"), (3, "failed"),
    ]  # fmt: skip
    assert await count(admin) == 0

    further = excel(table[:2], lambda book: book.create_sheet("Old"))
    written = data_of(await admin.post("/imports/phones", body_of(further)), 200)
    assert (written["written"], written["unread_sheets"]) == (True, ["Old"])
    assert data_of(await admin.get("/phones"))[0]["location"] == "Hall"


async def test_sync_of_an_excel_file_keeps_numbers_as_they_are_shown(admin: Caller) -> None:
    order = body_of(excel(DIRECTORY), source="hr")
    result = data_of(await admin.post("/imports/users", order), 200, "Table imported")

    assert [(row["line"], row["outcome"]) for row in result["rows"]] == [
        (2, "created"), (4, "created"),
    ]  # fmt: skip
    phones = {user["username"]: user["phone"] for user in data_of(await admin.get("/users"))}
    assert (phones["ada"], phones["bob"]) == ("0301", "302")


@pytest.mark.parametrize("source", [{}, {"source": "hr"}], ids=["import", "sync"])
async def test_excel_file_that_cannot_be_read_changes_nothing(
    admin: Caller, source: dict[str, str]
) -> None:
    data_of(await admin.post("/imports/users", body_of(excel(DIRECTORY), source="hr")))
    for file, field in (
        (b"PK\x03\x04", "xlsx"),
        (with_parts(excel(DIRECTORY), {"xl/vbaProject.bin": lambda _: b"x"}), "xlsx"),
        (excel([*DIRECTORY, ["=1+1"]]), "A5"),
    ):
        refused = error_of(await admin.post("/imports/users", body_of(file, **source)), 422)
        assert set(refused) == {field}
    assert all(user["is_active"] for user in data_of(await admin.get("/users")))


async def test_import_needs_one_table(admin: Caller) -> None:
    for body in ({}, {"csv": PHONES, **body_of(excel(DIRECTORY))}):
        error_of(await admin.post("/imports/phones", body), 422)
    error_of(await admin.post("/imports/phones", {"xlsx": "no base64!"}), 422)
    problems = error_of(await admin.post("/imports/phones", {"dry_run": True}), 422)
    assert problems == {"csv": "is required, or xlsx"}
