"""The catalogs of the pages for phones: complete, compiled, and within what a phone shows."""

import ast
import gettext
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from phoneprov_core.features.desks.pages import FIELD_NAME, PROMPT, TEXT, TITLE, encodable
from phoneprov_http.phone.language import BUNDLED, PLACEHOLDER
from support.catalogs import written

PAGES = BUNDLED.parent
LANGUAGES = ("de", "es", "fr", "it", "nl")
SHORT = min(TITLE, PROMPT, FIELD_NAME)
"""Titles, prompts, fields and keys have at most as many characters. What is longer in English
stands in the body of a page."""

# The longest value of each placeholder in a short text.
VALUES = {
    "time": "31-12-2026 23:59",
    "name": "Ada",
    "minutes": "60",
    "year": "2026",
    "month": "12",
    "day": "31",
    "hour": "23",
    "minute": "59",
}
# Keys of the phone, the types of fields, and the beginning of a label.
_NO_TEXT = re.compile(r"SoftKey:\w+|NP|[AT]")


def catalog(path: Path, locale: str | None = None) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def translations(lang: str) -> dict[str, str]:
    read = catalog(BUNDLED / lang / "LC_MESSAGES/phoneprov.po", lang)
    assert not read.obsolete, lang
    assert not any(message.fuzzy for message in read if message.id)
    return {str(message.id): str(message.string) for message in read if message.id}


def extracted() -> set[str]:
    found = extract_from_dir(PAGES, keywords={"say": None, "later": None})
    return {str(message) for _, _, message, _, _ in found}


def constants(path: Path) -> set[str]:
    """The texts of a module: constants that read like words, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
        and (re.match(r"\(?[A-Z]", node.value) or " " in node.value.strip())
        and not _NO_TEXT.fullmatch(node.value)
    }


def shown(text: str, lang: str, charset: str) -> str:
    """A translation with values, in the letters of a character set."""
    return written(PLACEHOLDER.sub(lambda hole: VALUES[hole[1]], text), lang, charset)


def test_template_has_every_text_of_the_pages() -> None:
    template = catalog(BUNDLED / "phoneprov.pot")

    assert {str(message.id) for message in template if message.id} == extracted()


@pytest.mark.parametrize("module", ["pages", "request"])
def test_text_in_the_pages_is_extracted(module: str) -> None:
    assert constants(PAGES / f"{module}.py") <= extracted()


def test_languages_are_those_that_are_promised() -> None:
    assert tuple(sorted(path.name for path in BUNDLED.iterdir() if path.is_dir())) == LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalog_translates_every_text(lang: str) -> None:
    translated = translations(lang)

    assert set(translated) == extracted()
    assert all(text.strip() == text and text for text in translated.values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalog_is_compiled(lang: str) -> None:
    with (BUNDLED / lang / "LC_MESSAGES/phoneprov.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    for text, translated in translations(lang).items():
        assert compiled.gettext(text) == translated


@pytest.mark.parametrize("lang", LANGUAGES)
def test_translation_has_the_placeholders_of_its_text(lang: str) -> None:
    for text, translated in translations(lang).items():
        assert sorted(PLACEHOLDER.findall(translated)) == sorted(PLACEHOLDER.findall(text))
        assert not re.search("[{}]", PLACEHOLDER.sub("", translated)), translated


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "us-ascii"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_translation_is_not_cut_by_a_phone(lang: str, charset: str) -> None:
    for text, translated in translations(lang).items():
        longest = SHORT if len(text) <= SHORT else TEXT
        assert len(shown(translated, lang, charset)) <= longest, translated


@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_translation_has_a_form_in_each_character_set(lang: str, charset: str) -> None:
    for text, translated in translations(lang).items():
        written = shown(translated, lang, charset)
        assert encodable(written, charset)
        # A question mark stands for a letter without a form.
        assert written.count("?") == translated.count("?"), (text, written)


def test_catalogs_differ_in_their_texts() -> None:
    words = [translations(lang)["Log out"] for lang in LANGUAGES]

    assert words == ["Abmelden", "Cerrar sesión", "Déconnexion", "Disconnetti", "Afmelden"]
