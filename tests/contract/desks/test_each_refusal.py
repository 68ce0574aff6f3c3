"""Each refusal of a page for phones: its text, and that nothing was changed."""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from phoneprov_core.features.desks.access import LIFETIME_SECONDS
from support.api import data_of
from support.hotdesk import PIN, Hotdesk
from support.phone_browser import Shown
from support.switch_rig import MAC, XML, a_profile_of

NEW_PIN = "13579135"
NO_PROFILE = "You have no profile that fits this phone. Ask an administrator."
NOT_LOGGED_IN = "No user is logged in at this phone. Log in first."
NO_LOGINS = "Users cannot log in at this phone."
DIFFERENT = "The two new PINs differ. Nothing was changed."
OUT_OF_DATE = "This page is out of date. Press Services and begin again."
WEAK = (
    "The PIN must not be one digit repeated, digits in order, or a number of yours. "
    "Nothing was changed."
)
WRONG_LENGTH = "A PIN has 4 to 32 digits. Nothing was changed."


def changed(url: str, **parameters: str) -> str:
    """The URL with other values of these parameters."""
    path, _, query = url.partition("?")
    values = {name: found[0] for name, found in parse_qs(query).items()}
    assert set(parameters) <= set(values), values
    return f"{path}?{urlencode(values | parameters)}"


async def choice_of(office: Hotdesk) -> Shown:
    """The menu of ada's two profiles that fit, after the right PIN. A third does not fit."""
    await a_profile_of(office.ada, name="Evening", cnf_xml="<device><e/></device>")
    return await office.phone().log_in("ada", PIN)


async def forged_profile_of_another_user(office: Hotdesk) -> Shown:
    """The profile of bob instead of one of those that were offered."""
    bob = await office.person("bob")
    (profile,) = data_of(await bob.get("/phone-profiles"), metadata=False)
    return await chosen(office, profile["uuid"])


async def own_profile_that_does_not_fit(office: Hotdesk) -> Shown:
    return await chosen(office, await a_profile_of(office.ada, name="For SIP", software_type="SIP"))


async def chosen(office: Hotdesk, profile: str = "no such") -> Shown:
    choice = await choice_of(office)
    return await office.phone().fetch(changed(choice.items["Evening"], profile=profile))


async def profile_deleted_after_the_choice(office: Hotdesk) -> Shown:
    choice = await choice_of(office)
    await office.ada.delete(f"/phone-profiles/{office.profile}")
    return await office.phone().choose(choice, "Ada's")


async def profile_that_fits_no_more(office: Hotdesk) -> Shown:
    await office.ada.put(f"/phone-profiles/{office.profile}", {"software_type": "SIP"})
    return await office.phone().log_in("ada", PIN)


async def without_logins(office: Hotdesk) -> None:
    await office.admin.put(f"/phones/{MAC}/desk", {"hotdesk": False})


async def login_at_a_phone_without_logins(office: Hotdesk) -> Shown:
    form = await office.phone().choose(await office.phone().first(), "Log in")
    await without_logins(office)
    return await office.phone().submit(form, User="ada", PIN=PIN)


async def form_at_a_phone_without_logins(office: Hotdesk) -> Shown:
    await without_logins(office)
    return await office.phone().first("/phone/login")


async def choice_at_a_phone_without_logins(office: Hotdesk) -> Shown:
    choice = await choice_of(office)
    await without_logins(office)
    return await office.phone().choose(choice, "Evening")


def page(path: str) -> Callable[[Hotdesk], Awaitable[Shown]]:
    """A page that is fetched while no user is logged in."""
    return lambda office: office.phone().first(f"/phone/{path}")


@pytest.mark.parametrize(
    ("refused", "text"),
    [
        (forged_profile_of_another_user, NO_PROFILE),
        (own_profile_that_does_not_fit, NO_PROFILE),
        (chosen, NO_PROFILE),
        (profile_deleted_after_the_choice, NO_PROFILE),
        (profile_that_fits_no_more, NO_PROFILE),
        (login_at_a_phone_without_logins, NO_LOGINS),
        (form_at_a_phone_without_logins, NO_LOGINS),
        (choice_at_a_phone_without_logins, NO_LOGINS),
        (page("logout"), NOT_LOGGED_IN),
        (page("logout/confirm"), NOT_LOGGED_IN),
        (page("pin"), NOT_LOGGED_IN),
        (page("pin/change"), NOT_LOGGED_IN),
        (page("directories/personal"), NOT_LOGGED_IN),
        (page("nothing"), "There is no such page. Press Services and begin again."),
    ],
)
async def test_page_that_is_refused_shows_why_and_changes_nothing(
    office: Hotdesk, refused: Callable[[Hotdesk], Awaitable[Shown]], text: str
) -> None:
    page = await refused(office)

    assert (page.kind, page.title, page.text) == ("Text", "Not possible", text)
    assert (await office.desk())["user_uuid"] is None
    assert office.world.happened == []


async def test_choice_of_an_inactive_user_is_refused(office: Hotdesk) -> None:
    choice = await choice_of(office)
    await office.admin.put(f"/users/{office.ada.uuid}", {"is_active": False})

    assert (await office.phone().choose(choice, "Evening")).text == OUT_OF_DATE
    assert office.world.happened == []


async def test_token_of_another_user_is_refused(office: Hotdesk) -> None:
    bob = await office.person("bob")
    choice = await choice_of(office)
    (token,) = parse_qs(urlsplit(choice.items["Evening"]).query)["token"]
    forged = token.replace(office.ada.uuid.replace("-", ""), bob.uuid.replace("-", ""))
    (profile,) = data_of(await bob.get("/phone-profiles"), metadata=False)
    assert forged != token

    url = changed(choice.items["Evening"], token=forged, profile=profile["uuid"])

    assert (await office.phone().fetch(url)).text == OUT_OF_DATE
    assert office.world.happened == []


async def test_token_of_another_page_is_refused(office: Hotdesk) -> None:
    """The form of the login is shown without a PIN."""
    form = await office.phone().choose(await office.phone().first(), "Log in")
    (token,) = parse_qs(urlsplit(form.form).query)["token"]
    choice = await choice_of(office)

    answer = await office.phone().fetch(changed(choice.items["Evening"], token=token))

    assert answer.text == OUT_OF_DATE
    assert office.world.happened == []


@pytest.mark.parametrize("token", ["", "x", "L1-", "\u0661-\u0661-\u0661"])
async def test_text_that_is_no_token_is_refused(office: Hotdesk, token: str) -> None:
    choice = await choice_of(office)
    form = await office.phone().choose(await office.phone().first(), "Log in")

    url = changed(choice.items["Evening"], token=token)
    assert (await office.phone().fetch(url)).text == OUT_OF_DATE
    url = changed(form.form, token=token) + f"&user=ada&pin={PIN}"
    assert (await office.phone().fetch(url)).text == OUT_OF_DATE
    assert office.world.happened == []


async def test_token_older_than_its_lifetime_is_refused(
    office: Hotdesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_core.features.desks.access.LIFETIME_SECONDS", -1)
    form = await office.phone().choose(await office.phone().first(), "Log in")
    monkeypatch.undo()

    assert LIFETIME_SECONDS > 0
    assert (await office.phone().submit(form, User="ada", PIN=PIN)).text == OUT_OF_DATE
    assert office.world.happened == []


async def test_stale_forms_are_refused_after_a_change_of_the_desk(office: Hotdesk) -> None:
    await office.log_in()
    menu = await office.phone().first()
    log_out = await office.phone().choose(menu, "Log out")
    change_pin = await office.phone().choose(menu, "Change PIN")
    await office.log_out()
    await office.log_in()
    values = {"Old PIN": PIN, "New PIN": NEW_PIN, "New PIN again": NEW_PIN}

    assert (await office.phone().choose(log_out, "Log out")).text == OUT_OF_DATE
    assert (await office.phone().submit(change_pin, **values)).text == OUT_OF_DATE
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert office.on_phone() == XML.encode()


@pytest.mark.parametrize(
    ("old", "new", "again", "text"),
    [
        (PIN, NEW_PIN, "13579136", DIFFERENT),
        (PIN, "123", "123", WRONG_LENGTH),
        (PIN, "1" * 33, "1" * 33, WRONG_LENGTH),
        (PIN, "12a4", "12a4", WRONG_LENGTH),
        (PIN, "8901", "8901", WEAK),
        ("00000000", NEW_PIN, NEW_PIN, None),
    ],
)
async def test_change_of_the_pin_that_is_refused_keeps_the_old_one(
    office: Hotdesk, old: str, new: str, again: str, text: str | None
) -> None:
    await office.log_in()
    form = await office.phone().choose(await office.phone().first(), "Change PIN")

    values = {"Old PIN": old, "New PIN": new, "New PIN again": again}
    answer = await office.phone().submit(form, **values)

    assert answer.title == "Not possible"
    assert text is None or answer.text == text
    await office.log_out()
    assert (await office.phone().log_in("ada", PIN)).title == "Logged in"


async def test_login_at_a_phone_in_a_call_is_refused(
    office: Hotdesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def in_call(*_: object) -> bool:
        return True

    monkeypatch.setattr("phoneprov_core.features.desks.change.is_in_call", in_call)

    answer = await office.phone().log_in("ada", PIN)

    assert answer.text == "This phone is in a call. Log in when it is over."
    assert (await office.desk())["user_uuid"] is None
    assert office.world.happened == []


async def test_personal_directory_is_shown_in_pages_of_32(office: Hotdesk) -> None:
    bob = await office.person("bob")
    await bob.post(f"/personal-directory/{bob.uuid}", {"name": "Bob's", "home": "99"})
    for number in range(70):
        body = {"name": f"Person {number:02}", "home": f"{1000 + number}"}
        data_of(await office.ada.post(f"/personal-directory/{office.ada.uuid}", body), 201)
    await office.log_in()
    menu = await office.phone().first("/phone/directories")
    assert list(menu.items) == ["Company directory", "Personal directory"]

    page = await office.phone().choose(menu, "Personal")
    pages = [page.entries]
    while "Next" in page.keys and len(pages) < 4:
        page = await office.phone().fetch(page.keys["Next"])
        pages.append(page.entries)

    assert [len(entries) for entries in pages] == [32, 32, 6]
    shown = [entry for entries in pages for entry in entries]
    assert sorted(shown) == [(f"Person {n:02} (home)", f"{1000 + n}") for n in range(70)]


async def test_personal_directory_page_after_a_foreign_contact_shows_no_foreign_contact(
    office: Hotdesk,
) -> None:
    bob = await office.person("bob")
    await office.ada.post(f"/personal-directory/{office.ada.uuid}", {"name": "Own", "home": "1"})
    path = f"/personal-directory/{bob.uuid}"
    foreign = data_of(await bob.post(path, {"name": "First", "home": "98"}), 201)["uuid"]
    await bob.post(path, {"name": "Second", "home": "99"})
    await office.log_in()

    device = f"SEP{MAC.replace(':', '')}"
    page = await office.phone().fetch(
        f"/phone/directories/personal?device={device}&after={foreign}"
    )

    assert page.entries == [("Own (home)", "1")]
