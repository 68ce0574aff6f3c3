"""Pages as XML in the character set of a phone."""

import xml.etree.ElementTree as ET

import pytest

from phoneprov_core.phone_pages.model import Directory, Entry, Menu, MenuItem
from phoneprov_core.phone_pages.render import CHARSETS, render


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


def _root(document: bytes) -> ET.Element:
    # The parser knows few of the character sets.
    head, _, body = document.partition(b"\n")
    declared = head.split(b'encoding="')[1].split(b'"')[0].decode()
    return ET.fromstring(body.decode(declared))  # noqa: S314 - our own document
