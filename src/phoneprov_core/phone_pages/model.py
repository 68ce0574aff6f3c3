"""CiscoIPPhone objects: menu, directory, text, input form. A value that exists keeps the limits of
``CiscoIPPhone.xsd`` 3.3.4: what is longer is cut, and characters that XML or a phone cannot show
are left out. Too many parts are an error of the caller and raise ``ValueError``."""

import unicodedata

from msgspec import Struct
from msgspec.structs import force_setattr

TITLE = 32
PROMPT = 32
MENU_ITEMS = 100
MENU_NAME = 64
URL = 256
ENTRIES = 32
ENTRY_NAME = 32
NUMBER = 32
TEXT = 4000
FIELDS = 5
FIELD_NAME = 32
KEYS = 8


class SoftKey(Struct, frozen=True):
    """A key under the screen. ``url`` is ``SoftKey:...`` or an address."""

    name: str
    url: str
    position: int

    def __post_init__(self) -> None:
        _cut(self, "name", FIELD_NAME)
        _require_url(self.url)


class MenuItem(Struct, frozen=True):
    """One line of a menu."""

    name: str
    url: str

    def __post_init__(self) -> None:
        _cut(self, "name", MENU_NAME)
        _require_url(self.url)


class Menu(Struct, frozen=True):
    """Lines to choose from."""

    title: str
    prompt: str
    items: tuple[MenuItem, ...]
    keys: tuple[SoftKey, ...] = ()

    def __post_init__(self) -> None:
        _check(self, MENU_ITEMS, len(self.items))


class Entry(Struct, frozen=True):
    """A name and a number to dial."""

    name: str
    number: str

    def __post_init__(self) -> None:
        if not (_is_plain(self.name, ENTRY_NAME) and _is_plain(self.number, NUMBER)):
            _cut(self, "name", ENTRY_NAME)
            _cut(self, "number", NUMBER)


class Directory(Struct, frozen=True):
    """Numbers to dial."""

    title: str
    prompt: str
    entries: tuple[Entry, ...]
    keys: tuple[SoftKey, ...] = ()

    def __post_init__(self) -> None:
        _check(self, ENTRIES, len(self.entries))


class Text(Struct, frozen=True):
    """Something to read."""

    title: str
    prompt: str
    text: str
    keys: tuple[SoftKey, ...] = ()

    def __post_init__(self) -> None:
        _cut(self, "text", TEXT, lines=True)
        _check(self, 0, 0)


class Field(Struct, frozen=True):
    """A field of a form. ``flags``: ``A`` text, ``T`` telephone number, ``N`` digits, ``U`` upper
    case, ``L`` lower case, ``E`` equation; ``P`` after one of them hides what is typed."""

    name: str
    parameter: str
    flags: str
    value: str = ""

    def __post_init__(self) -> None:
        _cut(self, "name", FIELD_NAME)


class Input(Struct, frozen=True):
    """A form. With ``post`` the values are sent in the body of a POST, not in the URL."""

    title: str
    prompt: str
    url: str
    fields: tuple[Field, ...]
    post: bool = False
    keys: tuple[SoftKey, ...] = ()

    def __post_init__(self) -> None:
        _require_url(self.url)
        _check(self, FIELDS, len(self.fields))


Page = Menu | Directory | Text | Input


def displayable(text: str, longest: int, *, lines: bool = False) -> str:
    """The text without control and direction characters, at most ``longest`` characters."""
    if _is_plain(text, longest):
        return text
    if not (text.isascii() and text.isprintable()):
        text = "".join(c for c in text if _is_shown(c, lines=lines))
    return text[:longest].rstrip()


def _is_plain(text: str, longest: int) -> bool:
    """Whether the text is shown as it is; the usual case, found quickly."""
    return len(text) <= longest and text.isascii() and text.isprintable() and not text.endswith(" ")


def _is_shown(character: str, *, lines: bool) -> bool:
    if character == "\n":
        return lines
    # Cc control, Cf direction and other format, Cs surrogate, Cn unassigned (U+FFFE): XML 1.0
    # forbids some of them, and direction characters could make a line look like another.
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}


def _cut(value: Struct, field: str, longest: int, *, lines: bool = False) -> None:
    text = getattr(value, field)
    cut = displayable(text, longest, lines=lines)
    if cut != text:
        force_setattr(value, field, cut)


def _check(page: Page, most: int, count: int) -> None:
    _cut(page, "title", TITLE)
    _cut(page, "prompt", PROMPT)
    if count > most or len(page.keys) > KEYS:
        raise ValueError(f"a page has at most {most} parts and {KEYS} keys")


def _require_url(url: str) -> None:
    if not 0 < len(url) <= URL or not (url.isascii() and url.isprintable()) or " " in url:
        raise ValueError("a URL has 1 to 256 printable ASCII characters")
