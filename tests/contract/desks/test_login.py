"""Logging in at a phone, as the phone sees it."""

import asyncio

from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.deployments.model import Action, Outcome
from support.api import data_of
from support.hotdesk import IP, PIN, Hotdesk
from support.switch_rig import STARS, XML, a_profile_of


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


async def test_login_by_extension_number_of_one_user_succeeds(office: Hotdesk) -> None:
    body = {"type": "chan_sccp", "extension": "1001", "name": "Ada", "password": "s3cret-s3cret"}
    extension = data_of(await office.admin.post("/extensions", body), 201)["uuid"]
    link = {"user_uuid": office.ada.uuid, "extension_uuid": extension}
    await office.admin.post("/user-extensions", link)

    assert (await office.phone().log_in("1001", PIN)).title == "Logged in"
    await office.settled()

    bob = await office.person("bob")
    await office.admin.post("/user-extensions", {**link, "user_uuid": bob.uuid})
    await office.log_out()
    assert (await office.phone().log_in("1001", PIN)).title == "Not possible"


async def test_login_number_wins_over_an_equal_username(office: Hotdesk) -> None:
    await office.person("1001")
    assert (await office.phone().log_in("1001", "9999")).title == "Not possible"
    body = {"type": "chan_sccp", "extension": "1001", "name": "Ada", "password": "s3cret-s3cret"}
    extension = data_of(await office.admin.post("/extensions", body), 201)["uuid"]
    link = {"user_uuid": office.ada.uuid, "extension_uuid": extension}
    await office.admin.post("/user-extensions", link)

    assert (await office.phone().log_in("1001", PIN)).title == "Logged in"
    assert (await office.desk())["username"] == "ada"
    await office.settled()


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


async def test_login_pin_changed_before_the_choice_is_refused(office: Hotdesk) -> None:
    await a_profile_of(office.ada, name="Evening", cnf_xml="<device><e/></device>")
    choice = await office.phone().log_in("ada", PIN)
    await office.admin.put(f"/vendor-users/{office.ada.uuid}", {"pin_code": "864209"})

    assert (await office.phone().choose(choice, "Evening")).title == "Not possible"
    assert (await office.desk())["user_uuid"] is None


async def test_login_failed_upload_is_shown_and_changes_nothing(office: Hotdesk) -> None:
    office.world.fail_next(Refused("The FTP server 10.0.0.9:21 refused the upload."))

    answer = await office.phone().log_in("ada", PIN)

    assert "could not be stored" in answer.text
    assert "10.0.0.9" not in answer.text
    assert list(answer.keys) == ["Again", "Exit"]
    assert (await office.phone().fetch(answer.keys["Again"])).title == "Log in"
    assert (await office.deployments())[-1].message == (
        "The FTP server 10.0.0.9:21 refused the upload."
    )
    assert (await office.desk())["user_uuid"] is None
    assert [step[0] for step in office.world.happened] == ["upload"]
    assert (await office.record()).change_uuid is None
    assert (await office.phone().log_in("ada", PIN)).title == "Logged in"


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
    # The form of the earlier login is not valid any more.
    assert (await office.phone().submit(form, User="bob", PIN=PIN)).title == "Not possible"
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    await office.log_out()
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


async def test_pin_change_at_the_phone_is_stored(office: Hotdesk) -> None:
    await office.log_in()
    form = await office.phone().choose(await office.phone().first(), "Change PIN")
    values = {"Old PIN": PIN, "New PIN": "13579135", "New PIN again": "13579135"}

    assert (await office.phone().submit(form, **values)).title == "PIN changed"
    await office.log_out()
    assert (await office.phone().log_in("ada", PIN)).title == "Not possible"
    assert (await office.phone().log_in("ada", "13579135")).title == "Logged in"
