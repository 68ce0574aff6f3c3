"""Refusals at phones, and pages after bad input."""

import asyncio
import logging
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from support.api import data_of
from support.hotdesk import IP, PIN, Hotdesk, hotdesk
from support.log_lines import lines_of
from support.phone_browser import read
from support.polling import until
from support.records import identifier
from support.switch_rig import MAC


async def test_refused_phones_get_the_same_bytes(office: Hotdesk) -> None:
    admin = office.admin
    for mac, fields in (
        ("00:1B:D4:12:34:60", {"is_active": False}),
        ("00:1B:D4:12:34:61", {}),
    ):
        await admin.post("/phones", {"mac": mac, "phone_ip": IP, **fields})
    await admin.put("/vendor-phones/001bd4123461", {"vendor": False})

    for path in ("services", "directories", "login", "directories/company/list", "nothing"):
        refused = [
            await office.phone("00:1B:D4:12:34:99").first(f"/phone/{path}"),
            await office.phone("00:1B:D4:12:34:60").first(f"/phone/{path}"),
            await office.phone("00:1B:D4:12:34:61").first(f"/phone/{path}"),
            await office.phone(MAC, "10.0.0.77").first(f"/phone/{path}"),
            await office.phone().fetch(f"/phone/{path}?name=SEPzzz"),
            await office.phone().fetch(f"/phone/{path}"),
        ]
        assert len({page.content for page in refused}) == 1
        assert refused[0].kind == "Text"


async def test_request_of_a_page_is_a_sign_of_life(office: Hotdesk) -> None:
    async def is_seen() -> bool:
        status = data_of(await office.admin.get(f"/phones/{MAC}/state"))
        return status["seen_at"] is not None

    await office.phone(MAC, "10.0.0.77").first("/phone/services")
    await asyncio.sleep(0.1)
    assert not await is_seen()
    await office.phone().first("/phone/services")
    await until(is_seen)


async def test_failed_logins_get_the_same_bytes(office: Hotdesk) -> None:
    bob = await office.person("bob")
    await office.api.account("without-pin")
    await office.admin.put(f"/users/{bob.uuid}", {"is_active": False})
    answers = []
    for name, pin in (
        ("ada", "00000000"), ("unknown", PIN), ("bob", PIN), ("without-pin", PIN), ("", ""),
        ("ada", "1"), ("ada", "9" * 400), ("\0", "\0"), ("\u202eada", PIN), ("ada" * 90, "x"),
    ):  # fmt: skip
        await office.admin.put(f"/phones/{MAC}/desk", {"hotdesk": True})  # removes its lock
        answers.append(await office.phone().log_in(name, pin))
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].title == "Not possible"
    assert (await office.desk())["user_uuid"] is None


async def test_five_wrong_pins_lock_the_user_and_the_phone(office: Hotdesk) -> None:
    bob = await office.person("bob")
    other = await office.another_phone()
    for _ in range(5):
        wrong = await office.phone().log_in("ada", "00000000")

    # The right PIN is refused now, by the user's lock and by the phone's.
    assert (await other.log_in("ada", PIN)).title == wrong.title == "Not possible"
    assert (await office.phone().log_in("ada", PIN)).content == wrong.content
    assert (await office.phone().log_in("bob", PIN)).content == wrong.content
    assert (await other.log_in("bob", PIN)).title == "Logged in"
    # A new PIN removes the user's lock, an administrator the phone's.
    await office.ada.put(f"/vendor-users/{office.ada.uuid}", {"pin_code": PIN})
    await office.admin.put(f"/phones/{MAC}/desk", {})
    assert (await office.phone().log_in("ada", PIN)).title == "Logged in"
    assert bob.uuid


async def test_refused_logins_are_logged_counted_and_audited(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_METRICS_TOKEN="a service token of the tests") as office:
        counted = REGISTRY.get_sample_value("phoneprov_pin_failures_total") or 0
        with lines_of("phoneprov.logins") as lines:
            for _ in range(5):
                await office.phone().log_in("ada", "00000000")
            await office.phone().log_in("ada", PIN)

        wrong = ("login failed", IP, "wrong_pin")
        logged = [(line["event"], line["client_ip"], line["reason"]) for line in lines]
        assert logged == [wrong] * 5 + [("login locked", IP, "pin_locked")]
        assert REGISTRY.get_sample_value("phoneprov_pin_failures_total") == counted + 6
        locked = data_of(await office.admin.get("/audit", action="login.locked"))
        assert {(one["resource"], one["resource_id"]) for one in locked} == {
            ("user", office.ada.uuid),
            ("desk", MAC),
        }
        assert {(one["actor"], one["client_ip"]) for one in locked} == {("ada", IP)}


async def test_login_counts_as_a_switch_and_logout_does_not(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_SWITCHES_PER_PHONE="2") as office:
        for _ in range(2):
            await office.log_in()
            await office.log_out()

        refused = await office.phone().log_in("ada", PIN)
        assert refused.text == "Too many logins in a short time. Try again in 10 min."
        assert (await office.desk())["user_uuid"] is None
        # A superadmin is not limited, and the user that it logs in there can log out.
        body = {"profile_uuid": office.profile, "mac": MAC}
        assert (await office.admin.post("/phone-profiles/switch", body)).status_code == 200
        assert (await office.phone().log_out()).title == "Logged out"


async def test_pins_and_queries_are_not_logged(
    office: Hotdesk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await office.phone().log_in("ada", "86428642")
    await office.phone().log_in("ada", PIN)
    await office.phone().client.get("/phone/authentication?UserID=u&Password=s3cret-canary")
    ours = [one for one in caplog.records if one.name.startswith("phoneprov")]
    logged = "".join(f"{one.getMessage()}{one.__dict__}" for one in ours)
    assert "/phone/login/check" in logged
    for canary in ("86428642", PIN, "s3cret-canary", "token="):
        assert canary not in logged


@pytest.mark.parametrize(
    "query",
    [
        "",
        "device=",
        "device=%23DEVICENAME%23&name=SEP001BD4123456",
        "name=SEP001BD4123456&name=SEP001BD4123456",
        "device=%00%ff%fe&token=%F0",
        "device=SEP001BD4123456&token=" + "a" * 1900,
        "device=SEP001BD4123456&q=%E9%28&n=%3C%3E",
        "&&&=&=x&device=SEP001BD4123456",
        "device=SEP001BD4123456&" + "&".join(f"a{n}=1" for n in range(200)),
        "device=SEP001BD4123456&from=99999999999999999999&after=zzz",
        "x" * 5000,
    ],
)
async def test_invalid_input_shows_a_text_or_a_page(office: Hotdesk, query: str) -> None:
    for path in (
        "services", "login", "login/check", "login/profile", "logout", "logout/confirm", "pin",
        "pin/change", "directories", "directories/company", "directories/company/list",
        "directories/personal", "a/b", "",
    ):  # fmt: skip
        read(await office.phone().client.get(f"/phone/{path}?{query}"))
        read(await office.phone().client.post(f"/phone/{path}?{query}", content=query.encode()))
        read(await office.phone().client.put(f"/phone/{path}?{query}", content=query.encode()))
    assert (await office.desk())["user_uuid"] is None


async def test_company_directory_is_searched_in_pages_of_32(office: Hotdesk) -> None:
    for number in range(70):
        body = {"name": f"Person {number:02} <&\"'\u05d0>", "work": f"{1000 + number}"}
        data_of(await office.admin.post("/company-directory", body), 201)
    await office.admin.post(
        "/company-directory", {"name": "Ada Lovelace", "work": "2001", "mobile": "0170 5"}
    )
    form = await office.phone().choose(await office.phone().first("/phone/directories"), "Company")

    page = await office.phone().submit(form, Name="pers")
    sizes = [len(page.entries)]
    names = [name for name, _ in page.entries]
    while "Next" in page.keys:
        assert page.reply is not None
        assert page.reply.headers["refresh"] == f"0; url={page.keys['Next']}"
        page = await office.phone().fetch(page.keys["Next"])
        sizes.append(len(page.entries))
        names += [name for name, _ in page.entries]
    assert sizes == [32, 32, 6]
    assert len(set(names)) == 70
    assert list(page.keys) == ["Dial", "Edit dial", "Exit"]

    found = await office.phone().submit(form, Name="LOVE")
    assert found.entries == [("Ada Lovelace", "2001"), ("Ada Lovelace (mobile)", "01705")]
    assert len((await office.phone().submit(form, Number="104")).entries) == 10
    assert (await office.phone().submit(form, Name="zzz")).kind == "Text"
    assert len((await office.phone().submit(form)).entries) == 32


@pytest.mark.parametrize(
    ("number", "dialled"),
    [
        ("+44 (0)20 7946-0018", "+442079460018"), ("(030) 12", "03012"), ("0170/5.5", "017055"),
        ("*21#", "*21#"), ("-5", "5"), ("\u2013 7", "7"), ("1" * 32, "1" * 32),
        ("1" * 33, None), ("( )", None),
    ],
)  # fmt: skip
async def test_numbers_are_shown_as_dialled(
    office: Hotdesk, number: str, dialled: str | None
) -> None:
    await office.admin.post("/company-directory", {"name": "Ada", "work": number})

    page = await office.phone().first("/phone/directories/company/list")

    assert page.entries == ([("Ada", dialled)] if dialled else [])


@pytest.mark.parametrize(
    ("number", "dialled"),
    [
        ("+49 30 1 / +49 30 2", "+49301"), ("030-1 (Reception)", "0301"), ("sip:1001@pbx", "1001"),
        ("+49 30 1;ext=5", "+49301"), ("555 x5", "555"), ("\u0660\u0661", "01"),
        ("Reception", None),
    ],
)  # fmt: skip
async def test_only_numbers_that_a_phone_can_dial_are_offered(
    office: Hotdesk, number: str, dialled: str | None
) -> None:
    await office.admin.post("/company-directory", {"name": "Ada M\u00fcller", "mobile": number})
    form = await office.phone().first("/phone/directories/company")

    page = await office.phone().submit(form, Name="mueller")

    assert page.entries == ([("Ada M\u00fcller (mobile)", dialled)] if dialled else [])


async def test_field_of_the_user_takes_letters_and_digits(office: Hotdesk) -> None:
    url = f"/phone/login?device=SEP{MAC.replace(':', '')}"
    reply = await office.phone().client.get(url)

    user = reply.text.partition("<DisplayName>User<")[2].partition("</InputItem>")[0]
    assert "<InputFlags>A</InputFlags>" in user  # text of the keypad, letters and digits


async def test_head_response_has_the_length_of_the_page(office: Hotdesk) -> None:
    url = f"/phone/services?name=SEP{MAC.replace(':', '')}"
    client = office.phone().client
    got, head = await client.get(url), await client.head(url)
    assert (head.content, head.headers) == (b"", got.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X"])
async def test_phone_page_with_another_method_than_get_is_refused(
    office: Hotdesk, method: str
) -> None:
    device = f"device=SEP{MAC.replace(':', '')}"
    for path in ("services", "login", "logout/confirm", "directories/personal", "none"):
        reply = await office.phone().client.request(method, f"/phone/{path}?{device}")
        assert read(reply).title == "Not possible"
        assert reply.headers["allow"] == ("GET" if path == "logout/confirm" else "GET, HEAD")


async def test_changing_page_with_head_changes_nothing(office: Hotdesk) -> None:
    form = await office.phone().choose(await office.phone().first(), "Log in")
    url = f"{form.form}&{form.fields['User']}=ada&{form.fields['PIN']}={PIN}"

    assert (await office.phone().client.head(url)).headers["allow"] == "GET, POST"
    assert (await office.desk())["user_uuid"] is None

    assert (await office.phone().fetch(url)).title == "Logged in"


async def test_authentication_with_another_method_than_get_is_refused(tmp_path: Path) -> None:
    login = {"PHONEPROV_PHONE_USER": "phones", "PHONEPROV_PHONE_PASSWORD": "phone-secret"}
    async with hotdesk(tmp_path, **login) as office:
        url = "/phone/authentication?UserID=phones&Password=phone-secret"
        assert (await office.phone().client.post(url)).content == b"UNAUTHORIZED"
        assert (await office.phone().client.get(url)).content == b"AUTHORIZED"


async def test_page_is_encoded_in_the_character_set_of_the_phone(office: Hotdesk) -> None:
    await office.admin.post("/company-directory", {"name": "Åsa Łoś \U0001f4de", "work": "1"})
    phone = office.phone(**{"Accept-Charset": "iso-8859-1,utf-8;q=0.8"})
    form = await phone.choose(await phone.first("/phone/directories"), "Company")

    page = await phone.submit(form, Name="asa")

    assert page.reply is not None
    assert page.reply.headers["content-type"] == "text/xml; charset=ISO-8859-1"
    assert page.entries[0][0].startswith("Åsa ")


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("UserID=phones&Password=phone-secret&devicename=SEP001BD4123456", b"AUTHORIZED"),
        ("UserID=phones&Password=wrong", b"UNAUTHORIZED"),
        ("UserID=&Password=", b"UNAUTHORIZED"),
        ("", b"UNAUTHORIZED"),
    ],
)
async def test_authentication_url_answers_with_one_word(
    tmp_path: Path, query: str, answer: bytes
) -> None:
    login = {"PHONEPROV_PHONE_USER": "phones", "PHONEPROV_PHONE_PASSWORD": "phone-secret"}
    async with hotdesk(tmp_path, **login) as office:
        reply = await office.phone().client.get(f"/phone/authentication?{query}")
        assert (reply.status_code, reply.content) == (200, answer)
        assert dict(reply.headers) == {
            "content-type": "text/plain",
            "content-length": str(len(answer)),
        }


async def test_authentication_url_answers_the_phone_networks_and_counts_by_64(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {
        "PHONEPROV_PHONE_USER": "phones",
        "PHONEPROV_PHONE_PASSWORD": "phone-secret",
        "PHONEPROV_PHONE_NETWORKS": "10.0.0.0/8,fd00::/8",
    }
    right, wrong = ("UserID=phones&Password=phone-secret", "UserID=phones&Password=x")
    async with hotdesk(tmp_path, **settings) as office:

        async def asked(ip: str, query: str = right) -> bytes:
            client = office.phone(MAC, ip).client
            return (await client.get(f"/phone/authentication?{query}")).content

        assert await asked("10.1.2.3") == await asked("fd00::1") == b"AUTHORIZED"
        for ip in ("192.0.2.1", "2001:db8::1", "127.0.0.1"):
            assert await asked(ip) == b"UNAUTHORIZED"
        for number in range(201):
            await asked(f"fd00::1:{number:x}", wrong)
        assert await asked("fd00::2") == b"UNAUTHORIZED"
        assert await asked("fd00:0:0:1::2") == b"AUTHORIZED"
    assert caplog.text.count("Too many wrong logins of phones from fd00::1:c8.") == 1
    assert caplog.text.count("Too many wrong logins") == 1


async def test_pages_say_that_their_type_is_not_guessed(office: Hotdesk) -> None:
    for page in (await office.phone().first(), await office.phone().first("/phone/nothing")):
        assert page.reply is not None
        assert page.reply.headers["x-content-type-options"] == "nosniff"


async def test_personal_directory_at_a_phone_without_an_address_is_refused(
    office: Hotdesk,
) -> None:
    path = f"/personal-directory/{office.ada.uuid}"
    await office.ada.post(path, {"name": "Mother", "home": "0123 456-78"})
    await office.log_in()
    await office.admin.put(f"/phones/{MAC}", {"phone_ip": None})

    page = await office.phone(MAC, "10.0.0.99").first("/phone/directories/personal")

    assert page.text == "No address of this phone is recorded. Ask an administrator."
    await office.admin.put(f"/phones/{MAC}", {"phone_ip": IP})
    assert (await office.phone().first("/phone/directories/personal")).entries


async def test_right_pin_that_fits_no_profile_leaves_an_audit_entry(office: Hotdesk) -> None:
    await office.ada.delete(f"/phone-profiles/{office.profile}")

    assert (await office.phone().log_in("ada", PIN)).text.startswith("You have no profile")

    [entry] = [
        one
        for one in data_of(await office.admin.get("/audit", action="login.succeeded"))
        if one["client_ip"] == IP
    ]
    assert (entry["actor"], entry["resource_id"]) == ("ada", office.ada.uuid)
    assert entry["changes"] == {"mac": {"old": None, "new": MAC}}


async def test_authentication_url_with_logins_disabled_refuses(office: Hotdesk) -> None:
    reply = await office.phone().client.get("/phone/authentication?UserID=&Password=")
    assert reply.content == b"UNAUTHORIZED"


async def test_desks_are_managed_over_the_api(office: Hotdesk) -> None:
    await office.log_in()
    bob = await office.person("bob")

    mine = data_of(await office.ada.get("/desks"), 200, "1 desk(s) found")
    assert mine == [await office.desk()]
    assert data_of(await bob.get("/desks"), 200, "0 desk(s) found") == []
    assert (await bob.get(f"/phones/{MAC}/desk")).status_code == 404
    assert (await bob.post(f"/phones/{MAC}/desk/logout", {})).status_code == 404
    assert (await bob.put(f"/phones/{MAC}/desk", {"hotdesk": False})).status_code == 403
    assert (await office.admin.get("/phones/00:1B:D4:00:00:99/desk")).status_code == 404
    missing = {"default_profile_uuid": identifier(0xDEAD)}
    assert (await office.admin.put(f"/phones/{MAC}/desk", missing)).status_code == 404
    assert (await office.admin.put(f"/phones/{MAC}/desk", mine[0])).status_code == 200

    desk = data_of(await office.ada.post(f"/phones/{MAC}/desk/logout", {}), 200, "Desk logged out")
    assert (desk["user_uuid"], desk["since"]) == (None, None)
    again = await office.admin.post(f"/phones/{MAC}/desk/logout", {})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "not_logged_in")


async def test_desk_of_an_unknown_phone_is_not_configured(office: Hotdesk) -> None:
    mac = "00:1B:D4:00:00:99"
    for body in ({"hotdesk": False}, {"default_profile_uuid": office.lobby}):
        refused = await office.admin.put(f"/phones/{mac}/desk", body)
        assert (refused.status_code, refused.json()["message"]) == (404, "There is no such desk.")

    assert data_of(await office.admin.get("/audit", resource_id=mac)) == []
