"""Pages as XML, in the character set that the phone prefers."""

import unicodedata
from functools import lru_cache
from html import escape

from phoneprov_core.phone_pages.model import Directory, Input, Menu, Page, SoftKey, Text

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
    """The page as a document. A character that the set lacks is shown without its accents, else
    as a question mark."""
    xml = f'<?xml version="1.0" encoding="{CHARSETS[charset]}"?>\n{_object(page)}'
    try:
        return xml.encode(charset)
    except UnicodeEncodeError:
        return "".join(_plain(c, charset) for c in xml).encode(charset, "replace")


def _plain(character: str, charset: str) -> str:
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        # The plain form of a full-width ``<`` or ``&`` is markup.
        return escape(unicodedata.normalize("NFKD", character)[0])
    return character


def _object(page: Page) -> str:
    head = f"<Title>{escape(page.title)}</Title><Prompt>{escape(page.prompt)}</Prompt>"
    keys = "".join(map(_key, page.keys))
    match page:
        case Menu():
            items = "".join(
                f"<MenuItem><Name>{escape(item.name)}</Name><URL>{escape(item.url)}</URL></MenuItem>"
                for item in page.items
            )
            return f"<CiscoIPPhoneMenu>{head}{items}{keys}</CiscoIPPhoneMenu>"
        case Directory():
            # One call for all texts; none of them holds a line break.
            parts = escape("\n".join(f"{one.name}\n{one.number}" for one in page.entries))
            texts = iter(parts.split("\n") if page.entries else ())
            entries = "".join(
                f"<DirectoryEntry><Name>{name}</Name><Telephone>{number}</Telephone></DirectoryEntry>"
                for name, number in zip(texts, texts, strict=True)
            )
            return f"<CiscoIPPhoneDirectory>{head}{entries}{keys}</CiscoIPPhoneDirectory>"
        case Text():
            body = f"{head}<Text>{escape(page.text)}</Text>{keys}"
            return f"<CiscoIPPhoneText>{body}</CiscoIPPhoneText>"
        case Input():
            method = ' method="post"' if page.post else ""
            fields = "".join(
                f"<InputItem><DisplayName>{escape(field.name)}</DisplayName>"
                f"<QueryStringParam>{escape(field.parameter)}</QueryStringParam>"
                f"<DefaultValue>{escape(field.value)}</DefaultValue>"
                f"<InputFlags>{escape(field.flags)}</InputFlags></InputItem>"
                for field in page.fields
            )
            url = f"<URL{method}>{escape(page.url)}</URL>"
            return f"<CiscoIPPhoneInput>{head}{url}{fields}{keys}</CiscoIPPhoneInput>"


def _key(key: SoftKey) -> str:
    return (
        f"<SoftKeyItem><Name>{escape(key.name)}</Name><URL>{escape(key.url)}</URL>"
        f"<Position>{key.position}</Position></SoftKeyItem>"
    )
