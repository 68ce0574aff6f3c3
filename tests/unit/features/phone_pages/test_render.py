"""Pages as XML in the character set of a phone."""

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from phoneprov_core.features.desks.pages import (
    CHARSETS,
    ENTRIES,
    FIELDS,
    KEYS,
    MENU_ITEMS,
    Directory,
    Entry,
    Field,
    Input,
    Menu,
    MenuItem,
    Page,
    SoftKey,
    TextPage,
    render,
)
from support import phone_schema

_EXIT = SoftKey("Exit", "SoftKey:Exit", 3)


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("R\uff06D", "R&D"),
        ("\uff1c/Name\uff1e\uff1cURL\uff1e", "</Name><URL>"),
        ("a\ufe64b\ufe60c\ufe65", "a<b&c>"),
        ("\u226eone\u226f", "<one>"),
    ],
)
def test_render_full_width_markup_stays_text(charset: str, name: str, plain: str) -> None:
    menu = Menu("Services", "", (MenuItem(name, "http://pbx.example/"),))
    directory = Directory("Company directory", "", (Entry(name, "100"),))

    for page in (menu, directory):
        (shown,) = (element.text or "" for element in _root(render(page, charset)).iter("Name"))
        # A character that the set has is shown as it is.
        assert len(shown) == len(name)
        assert all(one in pair for one, *pair in zip(shown, name, plain, strict=True))


@pytest.mark.parametrize(
    ("charset", "name", "shown"),
    [
        ("iso-8859-1", "Łukasz Øst", "Lukasz Øst"),
        ("us-ascii", "Łukasz Øst", "Lukasz Ost"),
        ("us-ascii", "Groß, Đorđe, Þór, Ærø", "Gross, Dorde, Thor, Aero"),
        ("us-ascii", "Ǿǽ ŒUVRE", "Oae OeUVRE"),
        ("iso-8859-1", "Щукина Ольга", "Shchukina Olga"),
        ("iso-8859-1", "Юрій Їжак", "Yuriy Yizhak"),
        ("iso-8859-1", "Γιώργος Παπαδόπουλος", "Giorgos Papadopoylos"),
        ("windows-1251", "Łukasz Щука", "Lukasz Щука"),
        ("iso-8859-1", "O’Neil – “x” … №", 'O\'Neil - "x" ... No'),  # noqa: RUF001
        ("iso-8859-1", "山田 \U0001f4de", "?? ?"),
        ("us-ascii", "\uff1cb\uff1e", "<b>"),
    ],
)
def test_render_character_outside_the_set_is_written_in_plain_letters(
    charset: str, name: str, shown: str
) -> None:
    menu = Menu("Services", "", (MenuItem(name, "http://pbx.example/"),))

    assert _root(render(menu, charset)).findtext("MenuItem/Name") == shown


def test_render_text_that_becomes_longer_is_cut() -> None:
    page = Directory("щ" * 32, "", (Entry("Щ" * 32, "100"),))

    root = _root(render(page, "iso-8859-1"))

    assert root.findtext("Title") == "shch" * 8
    assert root.findtext("DirectoryEntry/Name") == "Shch" * 8


@pytest.mark.parametrize(
    "page",
    [
        Menu("A", "B", (MenuItem("C", "http://pbx.example/"),), (_EXIT,)),
        Directory("A", "B", (Entry("C", "1"),), (_EXIT, _EXIT)),
        TextPage("A", "B", "C", (_EXIT,)),
        Input("A", "B", "http://pbx.example/", (Field("C", "c", "NP", "1"),), True, (_EXIT,)),
    ],
)
def test_render_elements_are_in_the_order_of_the_schema(page: Page) -> None:
    phone_schema.check(_root(render(page)))


def _root(document: bytes) -> ET.Element:
    # The parser knows few of the character sets.
    head, _, body = document.partition(b"\n")
    declared = head.split(b'encoding="')[1].split(b'"')[0].decode()
    return ET.fromstring(body.decode(declared))  # noqa: S314 - our own document


@pytest.mark.parametrize(
    "url", ["", "x" * 257, "http://a/b c", "http://a/\n", "http://\u00e4/", "http://a/\u202e"]
)
def test_page_url_that_a_phone_cannot_read_is_refused(url: str) -> None:
    for make in (
        lambda: MenuItem("One", url),
        lambda: SoftKey("One", url, 1),
        lambda: Input("", "", url, ()),
    ):
        with pytest.raises(ValueError, match="a URL has 1 to 256 printable ASCII characters"):
            make()


@pytest.mark.parametrize("make", [
    lambda: Menu("", "", (MenuItem("One", "http://a/"),) * (MENU_ITEMS + 1)),
    lambda: Directory("", "", (Entry("Ada", "1"),) * (ENTRIES + 1)),
    lambda: Input("", "", "http://a/", (Field("One", "one", "A"),) * (FIELDS + 1)),
    lambda: TextPage("", "", "", (_EXIT,) * (KEYS + 1)),
])  # fmt: skip
def test_page_with_more_parts_than_a_phone_shows_is_refused(make: Callable[[], Page]) -> None:
    with pytest.raises(ValueError, match="a page has at most"):
        make()
