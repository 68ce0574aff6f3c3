"""Pages for phones in the language of their reader."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from phoneprov_core.kernel.errors import Refused
from phoneprov_http.phone.language import BUNDLED, ENGLISH
from support.catalogs import ENGLISH_TEXTS, patterns, translated
from support.hotdesk import PIN, Hotdesk, hotdesk
from support.phone_browser import PhoneBrowser, Shown
from support.switch_rig import MAC, a_profile_of

LANGUAGES = sorted(path.name for path in BUNDLED.iterdir() if path.is_dir())
NEW_PIN = "13579135"


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Hotdesk]:
    async with hotdesk(tmp_path, PHONEPROV_DESK_HOURS="8") as opened:
        yield opened


def phone_in(office: Hotdesk, accepted: str, charset: str = "utf-8") -> PhoneBrowser:
    return office.phone(**{"Accept-Language": accepted, "Accept-Charset": charset})


async def log_in(phone: PhoneBrowser, pin: str = PIN) -> Shown:
    form = await phone.follow(await phone.first(), "login")
    return await phone.send(form, {"user": "ada", "pin": pin})


async def log_out(phone: PhoneBrowser) -> Shown:
    return await phone.follow(await phone.follow(await phone.first(), "logout"), "logout/confirm")


async def change_pin(phone: PhoneBrowser, old: str, new: str, again: str) -> Shown:
    form = await phone.follow(await phone.first(), "pin")
    return await phone.send(form, {"old": old, "new": new, "again": again})


async def every_page(office: Hotdesk, phone: PhoneBrowser) -> AsyncIterator[Shown]:
    """The pages of a day at a phone; ada logs in, and out at the end."""
    yield await phone.first()
    yield await phone.first("/phone/login")
    yield await log_in(phone, "99999")
    yield await phone.first("/phone/nothing")
    yield await phone.first("/phone/directories/personal")
    menu = await phone.first("/phone/directories")
    yield menu
    form = await phone.follow(menu, "directories/company")
    yield form
    yield await phone.send(form, {"q": "Adam"})
    yield await phone.send(form, {"q": "no such name"})
    choice = await log_in(phone)
    yield choice
    office.world.fail_next(Refused("The FTP server refused the upload."))
    yield await phone.fetch(choice.items["Evening"])
    choice = await log_in(phone)
    yield await phone.fetch(choice.items["Evening"])
    await office.settled()
    yield await phone.fetch(choice.items["Evening"])
    yield await phone.first()
    yield await phone.first("/phone/pin")
    yield await change_pin(phone, PIN, "123", "123")
    yield await change_pin(phone, PIN, NEW_PIN, "97531975")
    yield await change_pin(phone, PIN, "8901", "8901")
    yield await change_pin(phone, PIN, NEW_PIN, NEW_PIN)
    yield await change_pin(phone, NEW_PIN, PIN, PIN)
    yield await phone.first("/phone/directories/personal")
    yield await phone.first("/phone/logout")
    yield await log_out(phone)
    await office.settled()
    await office.admin.put(f"/phones/{MAC}/desk", {"hotdesk": False})
    yield await phone.first("/phone/login")
    await office.admin.put(f"/phones/{MAC}/desk", {"hotdesk": True})


def words_on(page: Shown) -> list[str]:
    """What a page says, without what is empty."""
    names = [name for name, _ in page.entries]
    texts = [page.title, page.prompt, page.text, *page.items, *page.keys, *page.fields, *names]
    return [text for text in texts if text]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "us-ascii"])
@pytest.mark.parametrize("lang", [ENGLISH, *LANGUAGES])
async def test_every_page_is_in_the_language_and_valid_for_phones(
    office: Hotdesk, lang: str, charset: str
) -> None:
    """The browser checks each page against the schema."""
    await office.admin.put(f"/users/{office.ada.uuid}", {"lang": lang})
    await a_profile_of(office.ada, office.admin, name="Evening", cnf_xml="<device><e/></device>")
    numbers = {"work": "1", "mobile": "2", "home": "3"}
    for number in range(12):
        await office.admin.post("/company-directory", {"name": f"Adam {number}", **numbers})
    names = ["Ada's", "Evening", r"Adam \d+"]
    known = patterns(lang, charset)
    label = "|".join(known(text) for text in ("(mobile)", "(home)"))
    allowed = "|".join([*map(known, ENGLISH_TEXTS), *names, rf"Adam \d+ (?:{label})"])
    english = set(ENGLISH_TEXTS) - {translated(lang, text) for text in ENGLISH_TEXTS}
    titles = set()

    async for page in every_page(office, phone_in(office, lang, charset)):
        reply = page.reply
        assert reply is not None
        assert reply.headers["content-type"].lower() == f"text/xml; charset={charset}"
        titles.add(page.title)
        for text in words_on(page):
            assert re.fullmatch(allowed, text), text
            assert lang == ENGLISH or text not in english

    assert len(titles) >= 9


async def test_french_user_at_a_german_phone_reads_each_page_in_the_right_language(
    office: Hotdesk,
) -> None:
    await office.admin.put(f"/users/{office.ada.uuid}", {"lang": "fr"})
    phone = phone_in(office, "de-DE")

    form = await phone.follow(await phone.first(), "login")
    assert (form.title, form.prompt) == ("Anmelden", "Benutzer und PIN eingeben")
    refusal = await phone.send(form, {"user": "ada", "pin": "99999"})
    assert refusal.title == "Nicht möglich"
    answer = await phone.send(form, {"user": "ada", "pin": PIN})
    assert answer.text == "Votre profil est en place. Le téléphone redémarre maintenant."
    await office.settled()
    menu = await phone.first()
    assert list(menu.items)[:2] == ["Déconnecter Ada Lovelace", "Modifier le code PIN"]
    assert (await log_out(phone)).title == "Déconnecté"
    await office.settled()
    menu = await phone.first()
    assert (menu.title, list(menu.items)) == ("Dienste", ["Anmelden", "Verzeichnisse"])


@pytest.mark.parametrize("lang", ["de", "en"])
async def test_logout_of_a_user_with_a_long_name_keeps_the_verb(office: Hotdesk, lang: str) -> None:
    body = {"lang": lang, "first_name": "Ada " * 20 + "Ada", "last_name": "Lovelace " * 9 + "L"}
    await office.admin.put(f"/users/{office.ada.uuid}", body)
    await log_in(office.phone())
    await office.settled()

    (item, *_) = (await office.phone().first()).items

    assert len(item) <= 64
    assert item.startswith("Log out Ada") if lang == "en" else item.endswith(" abmelden")


async def test_choice_of_profiles_is_in_the_language_of_the_user(office: Hotdesk) -> None:
    await office.admin.put(f"/users/{office.ada.uuid}", {"lang": "fr-CA"})
    await a_profile_of(office.ada, office.admin, name="Evening", cnf_xml="<device><e/></device>")

    assert (await log_in(phone_in(office, "de"))).prompt == "Choisissez un profil"


async def test_refusals_of_users_are_the_same_bytes_in_every_language(office: Hotdesk) -> None:
    """The language of an account would tell that it exists."""
    await office.admin.put(f"/users/{office.ada.uuid}", {"lang": "fr"})
    phone = phone_in(office, "de")
    form = await phone.follow(await phone.first(), "login")

    answers = [
        await phone.send(form, {"user": user, "pin": "99999"}) for user in ("ada", "no-such-user")
    ]

    assert answers[0].content == answers[1].content
    assert answers[0].title == "Nicht möglich"


@pytest.mark.parametrize(
    ("lang", "title"),
    [("de-CH", "Dienste"), ("DE_at", "Dienste"), ("pt", "Services"), ("en-GB", "Services")],
)
async def test_language_of_a_user_falls_back_to_its_parent_then_to_english(
    office: Hotdesk, lang: str, title: str
) -> None:
    body = {"lang": lang.replace("_", "-")}
    await office.admin.put(f"/users/{office.ada.uuid}", body)
    await log_in(office.phone())
    await office.settled()

    assert (await phone_in(office, "it").first()).title == title


@pytest.mark.parametrize(
    ("timezone", "prompt"),
    [("Europe/Berlin", r"Angemeldet bis \d\d\.\d\d\.\d{4} \d\d:\d\d"), ("UTC", ".*")],
)
async def test_end_of_a_login_is_shown_in_the_time_zone_of_the_user(
    office: Hotdesk, timezone: str, prompt: str
) -> None:
    body = {"lang": "de", "timezone": timezone}
    await office.admin.put(f"/users/{office.ada.uuid}", body)
    await log_in(office.phone())
    await office.settled()
    until = (await office.desk())["until"]

    menu = await phone_in(office, "en").first()

    assert re.fullmatch(prompt, menu.prompt)
    shown = int(menu.prompt[-5:-3])
    hours = (shown - int(until[11:13])) % 24
    assert hours == 0 if timezone == "UTC" else hours in {1, 2}


async def test_menu_without_an_end_of_the_login_asks_for_a_service(tmp_path: Path) -> None:
    async with hotdesk(tmp_path) as office:
        await office.log_in()

        assert (await office.phone().first()).prompt == "Choose a service"


async def test_phone_that_names_no_language_gets_that_of_the_setting(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_LANGUAGE="nl") as office:
        assert (await office.phone().first()).title == "Diensten"
        assert (await phone_in(office, "en-US").first()).title == "Services"
        # It asked for no language of this service: the office speaks Dutch.
        assert (await phone_in(office, "zh-TW").first()).title == "Diensten"


@pytest.mark.parametrize("accepted", ["x" * 2048, "pt," * 700, ",;q=" * 512, "\xe9\xff"])
async def test_header_of_any_length_is_answered(office: Hotdesk, accepted: str) -> None:
    phone = office.phone()
    phone.client.headers = httpx.Headers([(b"Accept-Language", accepted.encode("latin-1"))])

    assert (await phone.first()).title == "Services"


async def test_device_that_is_no_phone_is_refused_in_its_language(office: Hotdesk) -> None:
    stranger = office.phone("00:1B:D4:99:99:99", **{"Accept-Language": "es"})

    answer = await stranger.first()

    assert answer.text == (
        "Este teléfono no puede utilizar los servicios. Consulte a un administrador."
    )
    assert list(answer.keys) == ["Salir"]
