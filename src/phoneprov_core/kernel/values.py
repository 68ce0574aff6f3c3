"""Values: most functions take text as it was entered and return its canonical form. They raise
``ValueError`` with a message that continues the field's name: "must be ...". The others convert
moments."""

import ipaddress
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from msgspec import Meta

_LINE_BREAKS = frozenset("\t\n\r")

HIDDEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
"""The characters that are rendered as nothing or that change the direction of text, for a class of
a pattern. Unicode classes some of them as letters, marks or symbols."""

HIDDEN_BEYOND = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
"""Those beyond U+FFFF. No documented pattern has them: in JavaScript, a pattern without the flag
``u`` has two halves for each of them, and a range of them is a syntax error."""

INVISIBLE = re.compile(f"[{HIDDEN}{HIDDEN_BEYOND}]")

# The patterns of JSON schema: each is checked, and documented.
_MAIL = rf"[^@\s\x22(),:;<>\[\]\\\x00-\x1f\x7f-\x9f{HIDDEN}"
EMAIL = rf"^{_MAIL}]+@{_MAIL}.]+(?:\.{_MAIL}.]+)*$"
# RFC 5646 without the grandfathered tags: language, then script, region, variants and so on.
LANGUAGE = (
    r"^(?:(?:[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}|[A-Za-z]{4,8})(?:-[A-Za-z]{4})?"
    r"(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
    r"(?:-[0-9A-WYZa-wyz](?:-[A-Za-z0-9]{2,8})+)*(?:-[Xx](?:-[A-Za-z0-9]{1,8})+)?"
    r"|[Xx](?:-[A-Za-z0-9]{1,8})+)$"
)
PIN = r"^[0-9]{4,32}$"
NUMBER = r"^[0-9A-Za-z*#+._-]+$"

_MOST_MARKS = 30


def _plain(value: str, longest: int, allowed: frozenset[str]) -> str:
    # Normalising replaces at most four characters by one: longer text cannot become short enough.
    # It sorts the marks on a character in quadratic time; Unicode limits a stream to 30 of them
    # (UAX #15, section 13).
    if len(value) > 4 * longest:
        raise ValueError(f"must be at most {longest} characters long")
    marks = 0
    for character in value:
        category = unicodedata.category(character)
        if category == "Cs" or (category == "Cc" and character not in allowed):
            raise ValueError("must not contain control characters")
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > _MOST_MARKS:
            raise ValueError(f"must not have more than {_MOST_MARKS} accents on one character")
    return unicodedata.normalize("NFC", value)


def text(value: str, *, longest: int = 255, allowed: frozenset[str] = frozenset()) -> str:
    """One line of text, in Unicode form NFC, of at most ``longest`` characters. It may contain only
    the control characters in ``allowed``."""
    if not (value.isascii() and value.isprintable()):
        value = _plain(value, longest, allowed)
    if len(value) > longest:
        raise ValueError(f"must be at most {longest} characters long")
    return value


def _matching(pattern: str, value: str, message: str) -> str:
    if not re.fullmatch(pattern, value):
        raise ValueError(message)
    return value


def line(value: str, *, longest: int = 255) -> str:
    """One line of text as it is seen: without invisible and direction characters."""
    value = text(value, longest=longest)
    if INVISIBLE.search(value):
        raise ValueError("must not contain invisible or direction characters")
    return value


def required_text(value: str) -> str:
    """A line of 1 to 255 characters that are not all blanks."""
    return not_blank(line(value))


def not_blank(value: str) -> str:
    """One line of 1 to 255 characters that are not all blanks, invisible ones included."""
    value = text(value)
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def description(value: str) -> str:
    """At most 2048 characters; tabs and line breaks are allowed."""
    return text(value, longest=2048, allowed=_LINE_BREAKS)


def email(value: str) -> str:
    """Text in the form of an e-mail address; no mail is sent to verify it."""
    return _matching(EMAIL, required_text(value), "must be an e-mail address")


def language(value: str) -> str:
    """A BCP 47 language tag."""
    return _matching(LANGUAGE, required_text(value), "must be a language tag such as en or de-CH")


def language_tags(tag: str) -> list[str]:
    """A language and its fallbacks: ``de-CH-1996`` or ``de_CH_1996`` as
    ``de-ch-1996``, ``de-ch``, ``de``. Only the first 64 characters count."""
    parts = tag[:64].strip().lower().replace("_", "-").split("-")
    return ["-".join(parts[:end]) for end in range(len(parts), 0, -1)]


def timezone(value: str) -> str:
    """The IANA name of a time zone."""
    if value not in _timezones():
        raise ValueError("must be the IANA name of a time zone, such as Europe/Paris")
    return value


@cache
def _timezones() -> frozenset[str]:
    # A system may list its own zone under "localtime".
    return frozenset(available_timezones()) - {"localtime"}


Timestamp = Annotated[
    str,
    Meta(
        description="A moment in UTC, with milliseconds",
        examples=["2026-01-31T08:15:30.250Z"],
        extra_json_schema={"format": "date-time"},
    ),
]
"""A shown moment, such as ``2026-01-31T08:15:30.250Z``."""


def timestamp(moment: datetime) -> str:
    """``2026-01-31T08:15:30.250Z``; fractions of a millisecond are cut off."""
    # A conversion takes longer than all else, and the clock is in UTC.
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds")[:23] + "Z"


def millis(moment: datetime) -> int:
    """Whole milliseconds since 1970, for deadlines."""
    return int(moment.timestamp() * 1000)


def timestamp_of_millis(moment: int) -> str:
    """Milliseconds since 1970 as a shown moment."""
    seconds = datetime.fromtimestamp(moment // 1000, UTC)
    return timestamp(seconds + timedelta(milliseconds=moment % 1000))


# RFC 3339, section 5.6.
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def moment(value: str) -> str:
    """A moment of RFC 3339, in the form in which moments are shown."""
    try:
        if not _MOMENT.fullmatch(value):
            raise ValueError
        return timestamp(datetime.fromisoformat(value.upper()))
    except (ValueError, OverflowError):
        raise ValueError(
            "must be a timestamp in UTC or with an offset, such as 2026-01-31T08:15:30Z"
        ) from None


def url(value: str) -> str:
    """An http or https address of at most 2048 characters."""
    value = line(value, longest=2048)
    try:
        parts = urlsplit(value)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("must be an http or https address") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise ValueError("must be an http or https address")
    if any(character.isspace() for character in value):
        raise ValueError("must be an http or https address")
    return value


_SCHEMES = (
    "Application|Device|Dial|Display|EditDial|Init|Key|Notify|Play|QueryStringParam|RTPM?[RT]x"
    "|SendDigits|SoftKey|Vibrate|tel"
)
PHONE_URL = rf"^(?:{_SCHEMES}):[^\s\x00-\x1f\x7f-\x9f{HIDDEN}]+$"
"""A URI that only phones execute, such as ``Dial:1001``."""


def is_phone_url(value: str) -> bool:
    """Whether the text is a URI that only phones execute."""
    return re.fullmatch(PHONE_URL, value, re.IGNORECASE) is not None


def service_url(value: str) -> str:
    """An http or https address, or a URI of a phone, of at most 2048 characters."""
    value = line(value, longest=2048)
    if is_phone_url(value):
        return value
    try:
        return url(value)
    except ValueError:
        raise ValueError(
            "must be an http or https address, or a URI that phones execute, such as Dial:1001"
        ) from None


def pin_code(value: str) -> str:
    """4 to 32 digits: the keys of a phone."""
    return _matching(PIN, value, "must be 4 to 32 digits")


def extension_number(value: str) -> str:
    """A number that is dialled or configured in an exchange: digits, letters, ``*#+._-``."""
    message = "must consist of digits, letters and the characters * # + . _ -"
    return _matching(NUMBER, required_text(value), message)


_MAC = re.compile(
    r"[0-9a-f]{12}|[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}"
    r"|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_ADDRESS = 45
_NO_SEPARATORS = str.maketrans("", "", ":-.")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
PRIVATE_RANGES = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"
"""The networks that no router of the internet knows."""


def mac(value: str) -> str:
    """A phone's hardware address, in any of the four common spellings, as ``AA:BB:CC:DD:EE:FF``.
    All zeros, broadcast and multicast addresses belong to no phone and are refused."""
    if not _MAC.fullmatch(value):
        raise ValueError("must have 12 hexadecimal digits, like 00:1B:D4:12:34:56")
    digits = value.translate(_NO_SEPARATORS).upper()
    if digits == "0" * 12:
        raise ValueError("must not be the all-zero MAC address")
    if int(digits[:2], 16) & 1:
        raise ValueError("must not be a broadcast or multicast MAC address")
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


def ip(value: str) -> str:
    """An IPv4 or IPv6 address in its canonical spelling; scope ids are refused."""
    try:
        # No address is longer; parsing a megabyte would take too long.
        parsed = ipaddress.ip_address(value[: _LONGEST_ADDRESS + 1])
    except ValueError:
        raise ValueError("must be an IPv4 or IPv6 address") from None
    if "%" in value:
        raise ValueError("must be an IP address without a scope id")
    return str(parsed)


def same_address(one: str, other: str) -> bool:
    """Whether both texts are one address; an IPv4 address in IPv6's mapped form is that address."""
    return (address_of(one) or one) == (address_of(other) or other)


def address_key(ip: str) -> str:
    """The key of every limit by client address: an IPv4 address, or the /64 network of an IPv6
    address, all of which one client can use. Other text is its own key."""
    address = address_of(ip)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((address.packed, 64), strict=False))
    return str(address or ip)


def address_of(text: str) -> Address | None:
    """The address that a peer or a proxy is written as, without its scope id, which means nothing
    on another host; one of IPv4 in IPv6's mapped form is one of IPv4. None for other text."""
    text = text.partition("%")[0]
    if len(text) > _LONGEST_ADDRESS:
        return None
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def known_mac(value: str) -> str:
    """The canonical form of a MAC; empty text, which is the key of no phone, for any other text."""
    try:
        return mac(value)
    except ValueError:
        return ""


UUID = r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
"""A UUID, as a pattern."""

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def known_id(text: str | None) -> str:
    """The canonical form of a UUID; else empty text, which is the key of no record."""
    canonical = text.lower() if isinstance(text, str) else ""
    return canonical if _UUID.fullmatch(canonical) else ""


def uuid(value: str) -> str:
    """A UUID in lower case with hyphens."""
    known = known_id(value)
    if not known:
        raise ValueError("must be a UUID")
    return known


# A character has at most four code points in decomposed form.
_LONGEST_TYPED = 4 * 255


def caseless(text: str) -> str:
    """The form in which names are compared: Unicode's canonical caseless matching (D145). A text
    that is too long is returned as it is: it could take minutes."""
    if len(text) > _LONGEST_TYPED:
        return text
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
