"""Lists as CSV: everything that the filter selects, as an import reads it, on every database."""

import asyncio
import csv
import io
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from phoneprov_adapters.files.csv import csv_rows
from phoneprov_adapters.testing.phone_drivers import a_phone
from phoneprov_core.features.desks.records import DeskUse
from phoneprov_core.features.transfer.texts import ListAsTable
from phoneprov_core.inventory.phones.model import Phone, PhonePatch, PhoneSearch
from phoneprov_core.kernel import ports as paging
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Unavailable
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api
from support.records import a_mac, a_user, moment
from support.served import served
from support.stores import DATABASES

FORMULA = '=HYPERLINK("http://evil.example";"a")\r\n+1;=2'


@pytest.fixture(params=sorted(DATABASES))
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, database_kind=request.param) as opened:
        yield opened


async def asked(caller: Caller, path: str, accept: str = "text/csv", **query: Any) -> Any:
    return await caller.ask("GET", path, params=query, headers={"Accept": accept})


async def text_of(caller: Caller, path: str, **query: Any) -> str:
    reply = await asked(caller, path, **query)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    return str(reply.text)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


async def test_field_that_a_record_does_not_show_is_an_empty_cell(api: Api) -> None:
    """A profile with a text of its own has no template and no values."""
    ada = await api.account("ada")
    body = {"user_uuid": ada.uuid, "name": "Ada", "cnf_xml": "<device/>"}
    data_of(await ada.post("/phone-profiles", body), 201, metadata=False)

    [row] = rows_of(await text_of(ada, "/phone-profiles"))

    shown = {name.strip("()"): value for name, value in row.items()}
    assert (shown["name"], shown["template"], shown.get("values", "")) == ("Ada", "", "")


async def test_every_list_of_a_table_is_imported_again_without_a_change(api: Api) -> None:
    admin = await api.account("admin", level=0)
    for path, body in (
        ("/phones", {"mac": a_mac(1), "name": FORMULA.replace("\r\n", " "), "location": "@Hall"}),
        ("/phones", {"mac": a_mac(2), "description": FORMULA, "is_active": False}),
        ("/extensions", {"type": "chan_sccp", "extension": "0301", "name": "-Hall",
                         "password": "a line secret", "voicemail_passcode": "135790"}),
        ("/vendor-kem", {"model": "7914", "mac": a_mac(3), "connected_phone": a_mac(1)}),
        ("/locations", {"name": "=Hall", "emergency_number": "+493012345"}),
        ("/company-directory", {"name": "+1=2", "work": "+44 20 7946 0018"}),
    ):  # fmt: skip
        data_of(await admin.post(path, body), 201)
    await api.account("ada")

    for path, kind in (
        ("/phones", "phones"), ("/phones/summaries", "phones"), ("/users", "users"),
        ("/extensions", "extensions"), ("/vendor-kem", "kems"), ("/locations", "locations"),
        ("/company-directory", "company-directory"), ("/desks", "desks"),
    ):  # fmt: skip
        text = await text_of(admin, path)
        result = data_of(await admin.post(f"/imports/{kind}", {"csv": text}))
        of_list = len(data_of(await admin.get(path)))
        assert (result["failed"], result["unchanged"], result["total"]) == (0, of_list, of_list), (
            path, [row for row in result["rows"] if row["outcome"] != "unchanged"],
        )  # fmt: skip
        assert "a line secret" not in text
        assert "135790" not in text
        assert '"=' not in text
        assert '"@' not in text


async def test_desks_of_a_filter_are_imported_again_and_restore_what_changed(api: Api) -> None:
    """As the list of the console asks for them: more than a piece, in its order."""
    admin, ada = await api.account("admin", level=0), await api.account("ada")
    async with api.database.write() as tx:
        for number in range(1, 1201):
            location = "Hall" if number % 4 else "Annex"
            await tx.phones.add(a_phone(number, name=f"Desk {number:04}", location=location))
    body = {"user_uuid": ada.uuid, "name": "-Lobby", "cnf_xml": "<device/>"}
    lobby = data_of(await admin.post("/phone-profiles", body), 201, metadata=False)["uuid"]
    line = {"type": "chan_sccp", "extension": "0301", "name": "Hall", "password": "a line secret"}
    number = data_of(await admin.post("/extensions", line), 201)["uuid"]
    first = f"/phones/{a_mac(1200)}/desk"
    own = {"default_profile_uuid": lobby, "extension_uuid": number, "hotdesk": False,
           "ends_at": "06:00 Europe/Berlin"}  # fmt: skip
    before = data_of(await admin.put(first, own))

    whole = rows_of(await text_of(admin, "/desks"))
    text = await text_of(admin, "/desks", location="annex", sort="-name")

    rows = rows_of(text)
    assert [row["mac"] for row in whole] == [a_mac(number) for number in range(1, 1201)]
    assert [row["mac"] for row in rows] == [a_mac(number) for number in range(1200, 0, -4)]
    shown = {name: rows[0][name] for name in ("(name)", "(location)", "(username)", "extension")}
    assert list(shown.values()) == ["Desk 1200", "Annex", "", "0301"]
    assert (rows[0]["default_profile_user"], rows[0]["default_profile"]) == ("ada", "'-Lobby")
    found = data_of(await admin.get("/desks", location="annex", sort="-name", limit=2))
    assert [one["mac"] for one in found] == [a_mac(1200), a_mac(1196)]
    assert [row["mac"] for row in rows_of(await text_of(admin, "/desks", number="0301"))] == [
        a_mac(1200)
    ]
    same = data_of(await admin.post("/imports/desks", {"csv": text}))
    assert (same["unchanged"], same["total"]) == (300, 300)
    data_of(await admin.put(first, dict.fromkeys(own) | {"hotdesk": True}))
    again = data_of(await admin.post("/imports/desks", {"csv": text}))
    assert (again["updated"], again["unchanged"]) == (1, 299)
    assert data_of(await admin.get(first)) == before


async def test_desks_as_csv_name_no_profile_and_no_owner_to_a_user(api: Api) -> None:
    admin, ada = await api.account("admin", level=0), await api.account("ada")
    async with api.database.write() as tx:
        for number in (1, 2):
            await tx.phones.add(a_phone(number, name=f"Desk {number}"))
        await tx.desks.put((await tx.desks.find(a_mac(1))).used(DeskUse(ada.uuid), moment(1)))
    body = {"user_uuid": admin.uuid, "name": "Hidden", "cnf_xml": "<device/>"}
    hidden = data_of(await admin.post("/phone-profiles", body), 201, metadata=False)["uuid"]
    default = {"default_profile_uuid": hidden}
    data_of(await admin.put(f"/phones/{a_mac(1)}/desk", default))

    for query in ({}, {"sort": "name"}, {"user_uuid": ada.uuid}):
        [row] = rows_of(await text_of(ada, "/desks", **query))
        assert (row["mac"], row["(username)"]) == (a_mac(1), "ada")
        assert (row["default_profile_user"], row["default_profile"]) == ("", "")
    for refused in ({"number": "301"}, {"in_use": "true"}, {"user_uuid": admin.uuid}):
        error_of(await asked(ada, "/desks", **refused), 403)
    assert "Hidden" in await text_of(admin, "/desks")


async def test_list_holds_every_row_of_the_filter_and_no_other(api: Api) -> None:
    admin = await api.account("admin", level=0)
    async with api.database.write() as tx:
        for number in range(1, 1201):
            location = "Hall" if number % 4 else "Annex"
            await tx.phones.add(a_phone(number, name=f"Desk {number}", location=location))

    for path in ("/phones", "/phones/summaries"):
        rows = rows_of(await text_of(admin, path, location="annex"))
        assert [row["mac"] for row in rows] == [a_mac(number) for number in range(4, 1201, 4)]
        assert len(rows_of(await text_of(admin, path))) == 1200
        found = rows_of(await text_of(admin, path, q="desk"))
        assert {row["name"] for row in found} == {f"Desk {number}" for number in range(1, 1201)}
    by_name = rows_of(await text_of(admin, "/phones/summaries", sort="-name"))
    names = [row["name"] for row in by_name]
    assert names == sorted(names, key=str.lower, reverse=True)
    by_user = rows_of(await text_of(admin, "/phones/summaries", sort="username"))
    assert sorted(row["mac"] for row in by_user) == [a_mac(number) for number in range(1, 1201)]
    page = rows_of(await text_of(admin, "/phones", limit=3, offset=2))
    assert [row["mac"] for row in page] == [a_mac(number) for number in (3, 4, 5)]


@pytest.mark.parametrize("sort", ["number", "-number"])
async def test_whole_list_in_the_order_of_other_records_is_complete(api: Api, sort: str) -> None:
    admin = await api.account("admin", level=0)
    async with api.database.write() as tx:
        for number in range(1, 1101):
            await tx.users.add(a_user(number))

    rows = rows_of(await text_of(admin, "/users", sort=sort))

    assert len({row["uuid"] for row in rows}) == len(rows) == 1101
    assert [row["uuid"] for row in rows] == [
        one["uuid"] for one in data_of(await admin.get("/users", sort=sort))
    ]


async def test_list_of_the_audit_trail_holds_more_than_a_page(api: Api) -> None:
    admin = await api.account("admin", level=0)
    rows = "".join(
        f"{'Porter' if number % 100 == 0 else 'Person'} {number},{number}\n"
        for number in range(1100)
    )
    data_of(await admin.post("/imports/company-directory", {"csv": f"name,work\n{rows}"}))

    entries = rows_of(await text_of(admin, "/audit", resource="company_contact"))

    assert len({row["uuid"] for row in entries}) == len(entries) == 1100
    assert entries == sorted(entries, key=lambda row: (row["at"], row["uuid"]), reverse=True)
    found = rows_of(await text_of(admin, "/audit", resource="company_contact", q="porter"))
    assert len(found) == 11
    assert all("Porter" in row["changes"] for row in found)


async def test_list_as_csv_follows_the_rights_of_the_list(api: Api) -> None:
    ada = await api.account("ada")
    for path in ("/users", "/audit", "/phones/summaries"):
        error_of(await asked(ada, path), 403)
    await text_of(ada, "/phones")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", "application/json"),
        ("text/csv;q=0.5, application/json", "application/json"),
        ("application/json, text/csv", "application/json"),
        ("text/csv", "text/csv"),
        ("text/*", "text/csv"),
    ],
)
async def test_form_of_a_list_is_the_one_that_the_caller_prefers(
    tmp_path: Path, accept: str, expected: str
) -> None:
    async with opened_api(tmp_path) as api:
        admin = await api.account("admin", level=0)
        reply = await asked(admin, "/phones", accept)
        one = await asked(admin, "/me", accept)

    assert reply.headers["content-type"].partition(";")[0] == expected
    assert one.headers["content-type"] == "application/json"


async def test_export_while_others_write_holds_each_row_once_and_no_transaction(api: Api) -> None:
    async with api.database.write() as tx:
        for number in range(1, 61):
            await tx.phones.add(a_phone(number))
    phones, counted = api.container.phones(), Counted(api.database)
    listing = await paging.listing(counted.read, lambda tx: tx.phones, piece=10)

    text = ""
    async for piece in ListAsTable(csv_rows)(Phone, listing):
        text += piece
        # A client that reads slowly keeps no other from writing.
        assert counted.opened == 0
        for number in (1, 30, 59):
            patch = PhonePatch(name=f"Desk {len(text)}")
            await asyncio.wait_for(phones.update(SYSTEM_ACTOR, a_mac(number), patch), 5)
        if len(rows_of(text)) == 10:
            await phones.delete(SYSTEM_ACTOR, a_mac(10))
            await phones.delete(SYSTEM_ACTOR, a_mac(60))

    assert [row["mac"] for row in rows_of(text)] == [a_mac(number) for number in range(1, 60)]


class Counted:
    """A database that counts its open transactions."""

    def __init__(self, database: Any) -> None:
        self._database, self.opened = database, 0

    def read(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        self._transaction = self._database.read()
        self.opened += 1
        return await self._transaction.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        self.opened -= 1
        await self._transaction.__aexit__(*error)


async def test_export_of_ten_thousand_phones_takes_the_memory_of_a_piece(tmp_path: Path) -> None:
    async with opened_api(tmp_path, database_kind="sqlite") as api:
        async with api.database.write() as tx:
            for number in range(1, 10_001):
                place = "Hall" if number % 5 else "Annex"
                await tx.phones.add(a_phone(number, description="x" * 500, location=place))

        async def most_of(**wanted: Any) -> tuple[int, int]:
            """The largest memory of an export, and its length."""
            length = 0
            tracemalloc.start()
            listing = await api.container.phones().all(SYSTEM_ACTOR, None, PhoneSearch(**wanted))
            async for text in api.container.list_as_table()(Phone, listing):
                length += len(text)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return most, length

        await most_of()
        some, whole = await most_of(location="Annex"), await most_of()

    assert whole[1] > 4.9 * some[1] > 5_000_000
    assert whole[0] < 1.5 * some[0]


def test_export_whose_database_goes_away_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client must not take the beginning of a file for the file."""
    with served(tmp_path) as service:
        container = service.container
        api = f"{service.url}/api/v1"

        async def fill() -> None:
            hash_ = await container.hasher().hash(PASSWORD)
            async with container.database().write() as tx:
                user = a_user(1, username="ada", email="ada@example.com")
                await tx.users.add(user)
                await tx.users.set_password_hash(user.uuid, hash_)
                for number in range(1, 1101):
                    await tx.phones.add(a_phone(number))

        service.run(fill())
        login = {"username": "ada", "password": PASSWORD}
        token = httpx.post(f"{api}/auth/login", json=login, trust_env=False).json()["data"]
        whole = ListAsTable.__call__

        async def cut(self: ListAsTable, kind: Any, listing: Any) -> AsyncIterator[str]:
            pieces = 0
            async for text in whole(self, kind, listing):
                yield text
                pieces += 1
                if pieces == 2:
                    raise Unavailable

        monkeypatch.setattr(ListAsTable, "__call__", cut)
        headers = {"Authorization": f"Bearer {token['accessToken']}", "Accept": "text/csv"}
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{api}/phones", headers=headers, trust_env=False)
