"""Which language a page for a phone is in."""

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from phoneprov_http.phone.language import BrokenCatalog, Languages, local_time

ENGLISH = "Log in"
GERMAN = "Anmelden"
FRENCH = "Connexion"


def office_catalog(folder: Path, lang: str, texts: dict[str, str]) -> Path:
    """A folder with a compiled catalog of an office."""
    catalog = Catalog(locale=lang)
    for text, translated in texts.items():
        catalog.add(text, translated)
    path = folder / lang / "LC_MESSAGES" / "phoneprov.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalog)
    return folder


@pytest.mark.parametrize(
    ("accepted", "shown"),
    [
        ("", ENGLISH),
        ("de", GERMAN),
        ("de-DE", GERMAN),
        ("de_DE", GERMAN),
        ("DE-de-1996", GERMAN),
        ("en-US", ENGLISH),
        ("en_US,de", ENGLISH),
        ("de;q=0.3, fr;q=0.8, en;q=0.5", FRENCH),
        ("de ; q=0.3 , fr ; q=0.8", FRENCH),
        ("de;level=1;q=0.1,fr;q=0.2", FRENCH),
        ("de,fr", GERMAN),
        ("de;q=0,fr", FRENCH),
        ("de;q=2,fr", FRENCH),
        ("de;q=nan,fr;q=0.1", FRENCH),
        ("de;q=x,fr;q=0.1", FRENCH),
        ("pt-BR,x-klingon,i-default,fr", FRENCH),
        ("pt-BR", ENGLISH),
        ("*", ENGLISH),
        ("fr;q=0.1,*", ENGLISH),
        ("*;q=0.1,fr", FRENCH),
        (";;,,;q=1,-,_,de", GERMAN),
        ("../../etc,de", GERMAN),
        ("d\u00e9,de", GERMAN),
        ("x" * 2048, ENGLISH),
        ("de," * 700, GERMAN),
        ("x," * 1024 + "de", ENGLISH),
        ("pt;q=0.9," * 40 + "de;q=0.1", GERMAN),
    ],
)
def test_language_of_a_phone_is_the_first_known_one_that_it_accepts(
    accepted: str, shown: str
) -> None:
    assert Languages().of_phone(accepted, "utf-8")(ENGLISH) == shown


def test_list_of_languages_that_is_cut_loses_no_letters() -> None:
    """512 characters end inside of ``frr``, which is not ``fr``."""
    accepted = "x," * 255 + "frr"
    assert accepted[:512].endswith(",fr")

    assert Languages().of_phone(accepted, "utf-8")(ENGLISH) == ENGLISH


@pytest.mark.parametrize("accepted", ["", "*", "pt", "x" * 2048])
def test_language_of_the_setting_is_that_of_phones_without_a_known_one(accepted: str) -> None:
    languages = Languages(default="fr-CA")

    assert languages.of_phone(accepted, "utf-8")(ENGLISH) == FRENCH
    assert languages.of_phone("en", "utf-8")(ENGLISH) == ENGLISH


@pytest.mark.parametrize(
    ("lang", "shown"), [("de-CH", GERMAN), ("fr", FRENCH), ("pt", ENGLISH), ("en-GB", ENGLISH)]
)
def test_language_of_a_user_without_a_catalog_is_english(lang: str, shown: str) -> None:
    assert Languages(default="it").of_user(lang, "utf-8")(ENGLISH) == shown


@pytest.mark.parametrize(
    ("lang", "charset", "text", "shown"),
    [
        ("de", "iso-8859-1", "Change PIN", "PIN ändern"),
        ("de", "us-ascii", "Change PIN", "PIN aendern"),
        ("de", "windows-1251", "Dial", "Waehlen"),
        ("es", "iso-8859-1", "Whose phone is this?", "¿De quién es este teléfono?"),
        ("it", "us-ascii", "4 to 32 digits", "Da 4 a 32 cifre"),
    ],
)
def test_letters_that_a_character_set_lacks_are_written_as_in_the_language(
    lang: str, charset: str, text: str, shown: str
) -> None:
    assert Languages().of_user(lang, charset)(text) == shown


def test_values_are_kept_as_they_are() -> None:
    say = Languages().of_user("de", "us-ascii")

    assert say("Log out {name}", name="Jörg {time} \\1") == "Jörg {time} \\1 abmelden"


def test_default_without_a_catalog_is_refused() -> None:
    with pytest.raises(ValueError, match="no catalog for pt, only for de, en, es, fr, it, nl"):
        Languages(default="pt")


def test_texts_of_an_office_come_before_ours(tmp_path: Path) -> None:
    texts = {ENGLISH: "Einloggen", "Exit": "Ende"}
    languages = Languages(office_catalog(tmp_path, "de", texts))

    say = languages.of_phone("de-AT", "utf-8")

    assert (say(ENGLISH), say("Exit"), say("Cancel")) == ("Einloggen", "Ende", "Abbrechen")


def test_region_of_an_office_falls_back_to_its_language(tmp_path: Path) -> None:
    languages = Languages(office_catalog(tmp_path, "de_CH", {ENGLISH: "Aamelde"}))

    say = languages.of_user("de-CH", "utf-8")

    assert (say(ENGLISH), say("Cancel")) == ("Aamelde", "Abbrechen")
    assert languages.of_user("de-AT", "utf-8")(ENGLISH) == GERMAN


def test_language_of_an_office_that_lacks_a_text_shows_english(tmp_path: Path) -> None:
    languages = Languages(office_catalog(tmp_path, "pt", {ENGLISH: "Entrar"}), "pt")

    say = languages.of_phone("", "utf-8")

    assert (say(ENGLISH), say("Cancel")) == ("Entrar", "Cancel")


def test_english_of_an_office_is_used_for_english(tmp_path: Path) -> None:
    languages = Languages(office_catalog(tmp_path, "en", {ENGLISH: "Sign on"}))

    assert languages.of_phone("en-US", "utf-8")(ENGLISH) == "Sign on"
    assert languages.of_phone("de", "utf-8")(ENGLISH) == GERMAN


@pytest.mark.parametrize("translated", ["Raus", "{nmae} raus", "{name} {time}"])
def test_translation_with_other_placeholders_is_not_used(tmp_path: Path, translated: str) -> None:
    languages = Languages(office_catalog(tmp_path, "de", {"Log out {name}": translated}))

    shown = languages.of_user("de", "utf-8")("Log out {name}", name="Ada")

    assert shown == "Ada abmelden"


@pytest.mark.parametrize("content", [b"", b"not a catalog", b"\xde\x12\x04\x95\xff\xff"])
def test_file_that_is_no_catalog_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = office_catalog(tmp_path, "de", {})
    (folder / "de/LC_MESSAGES/phoneprov.mo").write_bytes(content)

    with pytest.raises(BrokenCatalog, match=r"phoneprov\.mo is not a compiled catalog"):
        Languages(folder)


@pytest.mark.parametrize(
    ("lang", "timezone", "shown"),
    [
        ("en", "UTC", "2026-07-01 22:30"),
        ("de", "Europe/Berlin", "02.07.2026 00:30"),
        ("fr", "America/Montreal", "01/07/2026 18:30"),
        ("nl", "Asia/Kolkata", "02-07-2026 04:00"),
        ("en", "Nowhere/City", None),
        ("en", "../etc/passwd", None),
    ],
)
def test_time_is_that_of_the_zone_in_the_form_of_the_language(
    lang: str, timezone: str, shown: str | None
) -> None:
    say = Languages().of_user(lang, "utf-8")

    assert local_time(say, "2026-07-01T22:30:00.000Z", timezone) == shown
