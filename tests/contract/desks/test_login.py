"""Logging in and out at a phone, as a phone sees it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from phoneprov_adapters.testing.phone_records import a_deployment
from phoneprov_core.deployments.model import Action, Outcome
from phoneprov_core.kernel.errors import Refused
from support.api import data_of
from support.hotdesk import IP, LOBBY, OTHER_IP, OTHER_MAC, PIN, Hotdesk, hotdesk
from support.switch_rig import MAC, STARS, XML, a_desk_phone, a_profile_of


async def test_menu_without_a_user_offers_login_and_directories(office: Hotdesk) -> None:
    await office.admin.post("/vendor-services", {"name": "Weather", "url": "http://w/x.xml?a=1"})

    menu = await office.phone().first()

    assert list(menu.items) == ["Log in", "Directories", "Weather"]
    assert menu.items["Weather"] == "http://w/x.xml?a=1&device=SEP001BD4123456"


async def test_login_with_a_pin_deploys_the_profile_and_answers_before_the_restart(
    office: Hotdesk,
) -> None:
    answer = await office.phone().log_in("ada", PIN)

    assert (answer.kind, answer.title) == ("Text", "Logged in")
    assert "restart" in answer.text
    assert office.on_phone() == XML.encode()
    desk = await office.desk()
    assert desk["user_uuid"] == office.ada.uuid
    assert (desk["username"], desk["profile_uuid"]) == ("ada", office.profile)
    assert desk["since"]
    assert desk["until"] is None
    await office.settled()
    assert office.world.happened[-3:] == [
        ("phone", IP, ["Init:Services"]),
        ("phone", IP, ["Init:CallHistory"]),
        ("phone", IP, STARS),
    ]
    record = (await office.deployments())[-1]
    assert (record.action, record.outcome) == (Action.LOGIN, Outcome.DEPLOYED)
    assert (record.user_uuid, record.restart) == (office.ada.uuid, "ok")
    assert (await office.record()).change_uuid is None
    menu = await office.phone().first()
    assert list(menu.items)[:2] == ["Log out Ada Lovelace", "Change PIN"]


async def test_phone_is_called_only_after_its_response(office: Hotdesk) -> None:
    async def sent_before_the_answer() -> list[object]:
        form = await office.phone().choose(await office.phone().first(), "Log in")
        seen: list[object] = []
        client = office.phone().client

        async def app(scope: dict[str, object], receive: object, send: object) -> None:
            async def sending(message: dict[str, object]) -> None:
                if message["type"] == "http.response.body":
                    for _ in range(50):
                        await asyncio.sleep(0)
                    seen.extend(office.world.happened[happened:])
                await send(message)  # type: ignore[operator]

            await office.app(scope, receive, sending)

        happened = len(office.world.happened)
        client._transport.app = app  # type: ignore[attr-defined]
        reply = await client.get(f"{form.form}&user=ada&pin={PIN}")
        assert b"Logged in" in reply.content
        return seen

    steps = await sent_before_the_answer()

    assert [step[0] for step in steps] == ["upload"]  # type: ignore[index]


async def test_logout_asks_once_and_deploys_the_default_profile(office: Hotdesk) -> None:
    await office.phone().log_in("ada", PIN)
    await office.settled()
    question = await office.phone().choose(await office.phone().first(), "Log out")
    assert list(question.items) == ["Log out", "Cancel"]
    assert (await office.phone().choose(question, "Cancel")).title == "Services"

    answer = await office.phone().choose(question, "Log out")

    assert (answer.kind, answer.title) == ("Text", "Logged out")
    assert office.on_phone() == LOBBY.encode()
    await office.settled()
    assert (await office.desk())["user_uuid"] is None
    assert (await office.deployments())[-1].action is Action.LOGOUT
    # Its token was good for one change.
    await office.phone().log_in("ada", PIN)
    await office.settled()
    assert (await office.phone().choose(question, "Log out")).title == "Not possible"
    assert (await office.desk())["user_uuid"] == office.ada.uuid


async def test_login_by_extension_number_of_one_user_succeeds(office: Hotdesk) -> None:
    body = {"type": "chan_sccp", "extension": "1001", "name": "Ada", "password": "s3cret-s3cret"}
    extension = data_of(await office.admin.post("/extensions", body), 201)["uuid"]
    link = {"user_uuid": office.ada.uuid, "extension_uuid": extension}
    await office.admin.post("/user-extensions", link)

    assert (await office.phone().log_in("1001", PIN)).title == "Logged in"
    await office.settled()

    bob = await office.person("bob")
    await office.admin.post("/user-extensions", {**link, "user_uuid": bob.uuid})
    await office.phone().log_out()
    await office.settled()
    assert (await office.phone().log_in("1001", PIN)).title == "Not possible"


async def test_login_several_profiles_are_listed_in_a_menu(office: Hotdesk) -> None:
    second = await a_profile_of(office.ada, name="Evening", cnf_xml="<device><e/></device>")
    await a_profile_of(office.ada, name="For SIP", software_type="SIP")

    choice = await office.phone().log_in("ada", PIN)

    assert (choice.kind, list(choice.items)) == ("Menu", ["Ada's", "Evening"])
    assert (await office.desk())["user_uuid"] is None
    assert (await office.phone().choose(choice, "Evening")).title == "Logged in"
    assert (await office.desk())["profile_uuid"] == second
    await office.settled()
    assert (await office.phone().choose(choice, "Ada's")).title == "Not possible"


async def test_login_without_fitting_profile_shows_a_text(office: Hotdesk) -> None:
    await office.ada.put(f"/phone-profiles/{office.profile}", {"software_type": "SIP"})

    answer = await office.phone().log_in("ada", PIN)

    assert answer.title == "Not possible"
    assert "no profile" in answer.text
    assert (await office.desk())["user_uuid"] is None


async def test_login_failed_upload_is_shown_and_changes_nothing(office: Hotdesk) -> None:
    office.world.fail_next(Refused("The FTP server refused the upload."))

    answer = await office.phone().log_in("ada", PIN)

    assert answer.text == "The FTP server refused the upload."
    assert (await office.desk())["user_uuid"] is None
    assert [step[0] for step in office.world.happened] == ["upload"]
    assert (await office.record()).change_uuid is None
    assert (await office.phone().log_in("ada", PIN)).title == "Logged in"


async def test_logout_failure_keeps_the_user_logged_in(office: Hotdesk) -> None:
    await office.phone().log_in("ada", PIN)
    await office.settled()
    office.world.fail_next(Refused("The FTP server refused the upload."))

    assert (await office.phone().log_out()).title == "Not possible"
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert office.on_phone() == XML.encode()


async def test_phone_with_logins_disabled_shows_a_text(office: Hotdesk) -> None:
    await office.admin.put(f"/phones/{MAC}/desk", {"hotdesk": False})

    answer = await office.phone().choose(await office.phone().first(), "Log in")

    assert answer.text == "Users cannot log in at this phone."


async def test_login_forms_of_newer_phones_are_posted(office: Hotdesk) -> None:
    phone = office.phone(**{"x-CiscoIPPhoneModelName": "CP-8841"})
    form = await phone.choose(await phone.first(), "Log in")

    assert form.posts
    assert (await phone.submit(form, User="ada", PIN=PIN)).title == "Logged in"


async def test_second_login_replaces_the_user_of_the_phone(office: Hotdesk) -> None:
    bob = await office.person("bob")
    form = await office.phone().choose(await office.phone().first(), "Log in")
    stale = await office.phone().submit(form, User="ada", PIN=PIN)
    await office.settled()

    assert stale.title == "Logged in"
    # The form of the turn before is not good any more.
    assert (await office.phone().submit(form, User="bob", PIN=PIN)).title == "Not possible"
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    await office.phone().log_out()
    await office.settled()
    assert (await office.phone().log_in("bob", PIN)).title == "Logged in"
    assert (await office.desk())["user_uuid"] == bob.uuid


async def test_concurrent_logins_at_one_phone_leave_one_user(office: Hotdesk) -> None:
    bob = await office.person("bob")
    form = await office.phone().choose(await office.phone().first(), "Log in")

    answers = await asyncio.gather(
        office.phone().submit(form, User="ada", PIN=PIN),
        office.phone().submit(form, User="bob", PIN=PIN),
    )

    assert sorted(answer.title for answer in answers) == ["Logged in", "Not possible"]
    await office.settled()
    user = (await office.desk())["user_uuid"]
    assert user == (office.ada.uuid if answers[0].title == "Logged in" else bob.uuid)
    assert (
        office.on_phone()
        == (XML if user == office.ada.uuid else "<device><name>bob</name></device>").encode()
    )


async def test_elsewhere_move_logs_the_user_out_at_the_other_phone(office: Hotdesk) -> None:
    other = await office.another_phone()
    await office.phone().log_in("ada", PIN)
    await office.settled()

    assert (await other.log_in("ada", PIN)).title == "Logged in"
    await office.settled(OTHER_MAC)
    assert (await office.desk())["user_uuid"] is None
    assert await office.keep_desks() == 1

    assert office.on_phone() == LOBBY.encode()
    assert office.on_phone(OTHER_IP, OTHER_MAC) == XML.encode()
    assert (await office.desk(OTHER_MAC))["user_uuid"] == office.ada.uuid
    assert (await office.record()).due is None
    assert await office.keep_desks() == 0


@pytest.mark.parametrize(
    ("elsewhere", "second", "users"), [("refuse", "Not possible", 1), ("allow", "Logged in", 2)]
)
async def test_elsewhere_setting_refuses_or_allows_a_second_phone(
    tmp_path: Path, elsewhere: str, second: str, users: int
) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_ELSEWHERE=elsewhere) as office:
        other = await office.another_phone()
        await office.phone().log_in("ada", PIN)
        await office.settled()

        assert (await other.log_in("ada", PIN)).title == second
        await office.settled(OTHER_MAC)
        desks = data_of(await office.admin.get("/desks"), 200, "2 desk(s) found")
        assert [desk["user_uuid"] for desk in desks].count(office.ada.uuid) == users


async def test_elsewhere_refuse_lets_one_of_two_concurrent_logins_succeed(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_ELSEWHERE="refuse") as office:
        other = await office.another_phone()
        answers = await asyncio.gather(office.phone().log_in("ada", PIN), other.log_in("ada", PIN))
        assert sorted(answer.title for answer in answers) == ["Logged in", "Not possible"]


async def test_login_ends_at_its_expiry(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_HOURS="1") as office:
        await office.phone().log_in("ada", PIN)
        await office.settled()
        desk = await office.desk()
        assert desk["until"] > desk["since"]
        assert await office.keep_desks() == 0
        async with office.api.database.write() as tx:
            await tx.desks.expire(desk["until"])
        assert next(iter((await office.phone().first()).items)) == "Log in"

        assert await office.keep_desks() == 1
        assert office.on_phone() == LOBBY.encode()
        assert (await office.deployments())[-1].action is Action.EXPIRY


@pytest.mark.parametrize("change", ["delete", "deactivate"])
async def test_deleted_or_deactivated_user_is_logged_out(office: Hotdesk, change: str) -> None:
    await office.phone().log_in("ada", PIN)
    await office.settled()
    if change == "delete":
        await office.admin.delete(f"/users/{office.ada.uuid}")
    else:
        await office.admin.put(f"/users/{office.ada.uuid}", {"is_active": False})

    assert (await office.desk())["user_uuid"] is None
    assert next(iter((await office.phone().first()).items)) == "Log in"
    office.world.fail_next(Refused("The FTP server is away."))
    assert await office.keep_desks() == 0
    assert (await office.record()).due is not None
    async with office.api.database.write() as tx:
        await tx.desks.postpone(MAC, 0)
    assert await office.keep_desks() == 1
    assert office.on_phone() == LOBBY.encode()


async def test_logout_without_default_profile_keeps_the_file(office: Hotdesk) -> None:
    await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None})
    await office.phone().log_in("ada", PIN)
    await office.settled()

    answer = await office.phone().log_out()

    assert answer.title == "Logged out"
    assert (await office.desk())["user_uuid"] is None
    assert office.on_phone() == XML.encode()


async def test_logout_during_a_call_is_deferred(office: Hotdesk) -> None:
    class Calls:
        busy = True

        async def in_call(self, _phone: object) -> bool:
            return self.busy

    calls = Calls()
    change = office.api.container.change_desk
    await office.phone().log_in("ada", PIN)
    await office.settled()
    change._calls = calls

    assert (await office.phone().log_out()).title == "Logged out"
    assert (await office.desk())["user_uuid"] is None
    assert "in a call" in (await office.phone().log_in("ada", PIN)).text
    assert await office.keep_desks() == 0
    assert office.on_phone() == XML.encode()
    calls.busy = False
    assert await office.keep_desks() == 1
    assert office.on_phone() == LOBBY.encode()


@pytest.mark.parametrize("way", ["phone", "api"])
async def test_logout_during_a_call_is_refused_if_the_desk_changed(
    office: Hotdesk, way: str
) -> None:
    bob = await office.person("bob")
    profile = (await office.admin.get(f"/phone-profiles/user/{bob.uuid}")).json()["data"][0]["uuid"]

    class Calls:
        async def in_call(self, _phone: object) -> bool:
            body = {"profile_uuid": profile, "mac": MAC}
            assert (await office.admin.post("/phone-profiles/switch", body)).status_code == 200
            return True

    await office.phone().log_in("ada", PIN)
    await office.settled()
    office.api.container.change_desk._calls = Calls()

    if way == "phone":
        assert (await office.phone().log_out()).title == "Not possible"
    else:
        refused = await office.admin.post(f"/phones/{MAC}/desk/logout", {})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "desk_changed")

    assert (await office.desk())["user_uuid"] == bob.uuid
    assert (await office.record()).due is None
    assert office.on_phone() == b"<device><name>bob</name></device>"


async def test_pin_change_at_the_phone_is_stored(office: Hotdesk) -> None:
    await office.phone().log_in("ada", PIN)
    await office.settled()

    async def change(old: str, new: str, again: str) -> str:
        form = await office.phone().choose(await office.phone().first(), "Change PIN")
        values = {"Old PIN": old, "New PIN": new, "New PIN again": again}
        return (await office.phone().submit(form, **values)).title

    assert await change(PIN, "13579135", "24680246") == "Not possible"
    assert await change(PIN, "123", "123") == "Not possible"
    assert await change("00000000", "13579135", "13579135") == "Not possible"
    assert await change(PIN, "13579135", "13579135") == "PIN changed"
    await office.phone().log_out()
    await office.settled()
    assert (await office.phone().log_in("ada", PIN)).title == "Not possible"
    assert (await office.phone().log_in("ada", "13579135")).title == "Logged in"


async def test_interrupted_pin_change_is_repaired(office: Hotdesk) -> None:
    await office.phone().log_in("ada", PIN)
    await office.settled()
    async with office.api.database.write() as tx:
        await tx.desks.begin_change(MAC, (await office.deployments())[-1].uuid, office.ada.uuid)
    office.world.files[f"{IP}:21"].clear()

    assert await office.keep_desks() == 1

    assert office.on_phone() == XML.encode()
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert (await office.record()).change_uuid is None


async def test_interrupted_login_restores_the_default_profile(office: Hotdesk) -> None:
    async with office.api.database.write() as tx:
        await tx.desks.begin_change(MAC, office.profile, office.ada.uuid)

    assert await office.keep_desks() == 1

    assert office.on_phone() == LOBBY.encode()
    assert (await office.desk())["user_uuid"] is None


async def test_interrupted_first_switch_is_completed_without_a_default_profile(
    office: Hotdesk,
) -> None:
    await a_desk_phone(office.admin, mac=OTHER_MAC, phone_ip=OTHER_IP)
    interrupted = a_deployment(
        1,
        OTHER_MAC,
        number=0,
        outcome=Outcome.INTERRUPTED,
        profile_uuid=office.profile,
        owner_uuid=office.ada.uuid,
    )
    async with office.api.database.write() as tx:
        await tx.deployments.add(interrupted)
        await tx.desks.begin_change(OTHER_MAC, interrupted.uuid, None)

    assert await office.keep_desks() == 1

    assert office.on_phone(OTHER_IP, OTHER_MAC) == XML.encode()
    assert (await office.desk(OTHER_MAC))["user_uuid"] == office.ada.uuid
    repaired = max(await office.deployments(OTHER_MAC), key=lambda one: one.created_at)
    assert (repaired.action, repaired.outcome) == (Action.SWITCH, Outcome.DEPLOYED)


@pytest.mark.parametrize("fails", [False, True])
async def test_completed_switch_leaves_nothing_to_repair(office: Hotdesk, fails: bool) -> None:
    if fails:
        office.world.fail_next(Refused("The FTP server refused the upload."))
    body = {"profile_uuid": office.profile, "mac": MAC}
    answer = await office.admin.post("/phone-profiles/switch", body)
    assert (answer.status_code == 200) is not fails

    assert (await office.record()).change_uuid is None
    assert await office.keep_desks() == 0
