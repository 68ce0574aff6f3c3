"""Pages for the screen of a phone: CiscoIPPhone objects as values, and their XML."""

import unicodedata
from functools import lru_cache
from html import escape
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import force_setattr

from phoneprov_core.kernel.search import plain

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


class TextPage(Struct, frozen=True):
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


Page = Menu | Directory | TextPage | Input


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


T = TypeVar("T")

CHARSETS = {
    "utf-8": "UTF-8",
    "iso-8859-1": "ISO-8859-1",
    "iso-8859-2": "ISO-8859-2",
    "iso-8859-5": "ISO-8859-5",
    "iso-8859-7": "ISO-8859-7",
    "iso-8859-9": "ISO-8859-9",
    "iso-8859-15": "ISO-8859-15",
    "windows-1251": "windows-1251",
    "windows-1252": "windows-1252",
    "shift_jis": "Shift_JIS",
    "us-ascii": "US-ASCII",
}
"""The character sets that a page can be sent in, by their names in lower case."""

_LONGEST_LIST = 512


@lru_cache(64)
def weighted(accepted: str) -> tuple[str, ...]:
    """The names in a list such as ``iso-8859-1,utf-8;q=0.8``, in lower case, the largest ``q``
    first, equal ``q`` in their order; without names of ``q=0`` and what cannot be parsed.
    Names after the first 512 characters are left out."""
    if len(accepted) > _LONGEST_LIST:
        accepted = accepted[:_LONGEST_LIST].rpartition(",")[0]
    names: list[tuple[float, str]] = []
    for part in accepted.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        of = dict(piece.partition("=")[::2] for piece in parameters)
        try:
            q = float(of.get("q", 1))
        except ValueError:
            continue
        if name and 0 < q <= 1:
            names.append((q, name))
    return tuple(name for _, name in sorted(names, key=lambda one: -one[0]))


def charset_of(accepted: str) -> str:
    """The known character set that a phone prefers; UTF-8 if none is known."""
    names = ("utf-8" if name == "*" else name for name in weighted(accepted))
    return next((name for name in names if name in CHARSETS), "utf-8")


def render(page: Page, charset: str = "utf-8") -> bytes:
    """The page as a document, its elements in the order of ``CiscoIPPhone.xsd``. A character that
    the set lacks is shown in plain letters, else as a question mark."""
    try:
        return _document(page, charset)
    except UnicodeEncodeError:
        return _document(_within(page, charset), charset)


def _document(page: Page, charset: str) -> bytes:
    xml = f'<?xml version="1.0" encoding="{CHARSETS[charset]}"?>\n{_object(page)}'
    return xml.encode(charset)


def _within(value: T, charset: str) -> T:
    """The value with the characters of this set alone. A text that became longer is cut again."""
    made: Any = value
    if isinstance(value, str):
        made = "".join(c if encodable(c, charset) else plain(c) for c in value)
    elif isinstance(value, tuple):
        made = tuple(_within(one, charset) for one in value)
    elif isinstance(value, Struct):
        fields = {name: _within(getattr(value, name), charset) for name in value.__struct_fields__}
        made = type(value)(**fields)
    return cast(T, made)


def encodable(character: str, charset: str) -> bool:
    """Whether a character set has this character."""
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


def _object(page: Page) -> str:
    head = f"<Title>{escape(page.title)}</Title><Prompt>{escape(page.prompt)}</Prompt>"
    head += "".join(map(_key, page.keys))
    match page:
        case Menu():
            items = "".join(
                f"<MenuItem><Name>{escape(item.name)}</Name><URL>{escape(item.url)}</URL></MenuItem>"
                for item in page.items
            )
            return f"<CiscoIPPhoneMenu>{head}{items}</CiscoIPPhoneMenu>"
        case Directory():
            # One call for all texts; none of them holds a line break.
            parts = escape("\n".join(f"{one.name}\n{one.number}" for one in page.entries))
            texts = iter(parts.split("\n") if page.entries else ())
            entries = "".join(
                f"<DirectoryEntry><Name>{name}</Name><Telephone>{number}</Telephone></DirectoryEntry>"
                for name, number in zip(texts, texts, strict=True)
            )
            return f"<CiscoIPPhoneDirectory>{head}{entries}</CiscoIPPhoneDirectory>"
        case TextPage():
            return f"<CiscoIPPhoneText>{head}<Text>{escape(page.text)}</Text></CiscoIPPhoneText>"
        case Input():
            method = ' method="post"' if page.post else ""
            fields = "".join(
                f"<InputItem><DisplayName>{escape(field.name)}</DisplayName>"
                f"<QueryStringParam>{escape(field.parameter)}</QueryStringParam>"
                f"<InputFlags>{escape(field.flags)}</InputFlags>"
                f"<DefaultValue>{escape(field.value)}</DefaultValue></InputItem>"
                for field in page.fields
            )
            url = f"<URL{method}>{escape(page.url)}</URL>"
            return f"<CiscoIPPhoneInput>{head}{url}{fields}</CiscoIPPhoneInput>"


def _key(key: SoftKey) -> str:
    return (
        f"<SoftKeyItem><Name>{escape(key.name)}</Name><Position>{key.position}</Position>"
        f"<URL>{escape(key.url)}</URL></SoftKeyItem>"
    )
