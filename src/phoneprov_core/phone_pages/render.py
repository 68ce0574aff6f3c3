"""Pages as XML, in the character set that the phone prefers."""

from functools import lru_cache
from html import escape
from typing import Any, TypeVar, cast

from msgspec import Struct

from phoneprov_core.kernel.letters import plain
from phoneprov_core.phone_pages.model import Directory, Input, Menu, Page, SoftKey, Text

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
def charset_of(accepted: str) -> str:
    """The known character set with the largest ``q`` in a list such as
    ``iso-8859-1,utf-8;q=0.8``, the first of equals; UTF-8 if none is known."""
    best, quality = "utf-8", 0.0
    for part in accepted[:_LONGEST_LIST].lower().split(","):
        name, _, parameter = part.partition(";")
        name = "utf-8" if name.strip() == "*" else name.strip()
        try:
            q = float(parameter.partition("=")[2]) if parameter.strip() else 1.0
        except ValueError:
            continue
        if name in CHARSETS and quality < q <= 1:
            best, quality = name, q
    return best


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
        made = "".join(c if _has(charset, c) else plain(c) for c in value)
    elif isinstance(value, tuple):
        made = tuple(_within(one, charset) for one in value)
    elif isinstance(value, Struct):
        fields = {name: _within(getattr(value, name), charset) for name in value.__struct_fields__}
        made = type(value)(**fields)
    return cast(T, made)


def _has(charset: str, character: str) -> bool:
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
        case Text():
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
