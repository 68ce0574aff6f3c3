"""The rules of ``CiscoIPPhone.xsd`` 3.3.4 for the objects that the service sends, in our words.

Elements stand in the order of these tables. A part is: name, least and most occurrences, and its
longest text, or the parts inside it.
"""

from typing import NamedTuple
from xml.etree.ElementTree import Element


class Part(NamedTuple):
    """One element of a sequence."""

    name: str
    content: "int | tuple[Part, ...] | frozenset[str]"
    least: int = 0
    most: int = 1


_KEY = (Part("Name", 32), Part("Position", frozenset("12345678"), 1), Part("URL", 256))
_SHOWN = (
    Part("Title", 32),
    Part("Prompt", 32),
    Part("SoftKeyItem", _KEY, most=8),
)
_FLAGS = frozenset({*"ATNEUL", "AP", "TP", "NP", "EP", "UP", "LP"})
_FIELD = (
    Part("DisplayName", 32),
    Part("QueryStringParam", 32, 1),
    Part("InputFlags", _FLAGS, 1),
    Part("DefaultValue", 32),
)
OBJECTS = {
    "CiscoIPPhoneText": (*_SHOWN, Part("Text", 4000)),
    "CiscoIPPhoneMenu": (
        *_SHOWN,
        Part("MenuItem", (Part("Name", 64), Part("URL", 256)), most=100),
    ),
    "CiscoIPPhoneDirectory": (
        *_SHOWN,
        Part("DirectoryEntry", (Part("Name", 32), Part("Telephone", 32)), most=32),
    ),
    "CiscoIPPhoneInput": (*_SHOWN, Part("URL", 256, 1), Part("InputItem", _FIELD, most=5)),
}


def check(root: Element) -> None:
    """Raise ``AssertionError`` if the object breaks a rule."""
    assert root.tag in OBJECTS, root.tag
    _check(root, OBJECTS[root.tag])


def _check(element: Element, parts: tuple[Part, ...]) -> None:
    children = list(element)
    for part in parts:
        count = 0
        while children and children[0].tag == part.name:
            count += 1
            _check_one(children.pop(0), part)
        assert part.least <= count <= part.most, f"{element.tag}: {count} times {part.name}"
    assert not children, f"{children[0].tag} is out of order in {element.tag}"


def _check_one(element: Element, part: Part) -> None:
    if isinstance(part.content, tuple):
        _check(element, part.content)
        return
    text = element.text or ""
    assert not list(element)
    if isinstance(part.content, frozenset):
        assert text in part.content, f"{part.name}: {text!r}"
    else:
        assert part.least <= len(text) <= part.content, f"{part.name}: {len(text)} characters"
