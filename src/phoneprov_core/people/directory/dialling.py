"""What a phone can dial of the text in which people write a telephone number."""

import re
from collections.abc import Iterator

from phoneprov_core.kernel.letters import digits_as_ascii
from phoneprov_core.kernel.values import INVISIBLE

LONGEST_NUMBER = 32
LONGEST_FIELD = 255
"""Characters of the field of a number; a longer text is not read."""
_LONGEST_EXTENSION = 3
"""Digits of an extension that begins with 0, as far as it is told from a second number."""

_SCHEME = re.compile(r"\s*(?:sips?|tel|callto):/{0,2}", re.IGNORECASE)
_WIDE = str.maketrans("\uff0b\ufe62\u207a\uff0a\uff03", "+++*#")
# Marks between the digits of one number.
_SEPARATORS = re.compile(r"[\s()\[\]/.\-_\u2010-\u2015\u2212\u00b7\u2022]+")
# (0) stands for calls within the country.
_NATIONAL = re.compile(r"\(\s*0\s*\)")
# In "030 1 / 030 2" the second begins with 0; the number after an area code does not.
_ANOTHER = re.compile(r"\s/\s+(?=0(?:[^\d/]*\d){2})")
_PLAIN = re.compile(r"[0-9]+")
_DIALLED = re.compile(r"\+?[0-9*#]+")
_TRUNK = re.compile(r"[\s(]*0{1,2}[\s)]*(?=\+)")
# Letters for digits, as in 0800 FLOWERS: what is before them is not the whole number.
_NO_LABEL = "(?!(?i:ext|fax|tel|mob|int|nst))"
_VANITY = re.compile(
    rf"[0-9][\s.\-]*{_NO_LABEL}[A-Z]{{3,}}(?![^\W\d_])|[0-9]-{_NO_LABEL}[^\W\d_]{{3,}}"
    r"|[^\W\d_]{3,}-?[0-9]"
)
_EXTENSION = re.compile(r";\s*(?:ext|isub|phone-context|user)\b|[^\W\d_]", re.IGNORECASE)


def dialled(number: str) -> str:
    """The first number in the text, without the marks that people write between its digits: digits,
    ``*`` and ``#``, and ``+`` in front. Extensions (``;ext=``, ``x``, ``ext.``) are cut off. Empty
    if there is none, if it has letters, or if it is too long for a phone."""
    if len(number) > LONGEST_FIELD:
        return ""
    plain = number.replace(" ", "")
    if not _PLAIN.fullmatch(plain.removeprefix("+")):
        plain = next(_numbers(number), "")
    return plain if len(plain) <= LONGEST_NUMBER else ""


def not_offered(number: str) -> str | None:
    """What phones do not offer of the text, as a text that continues the name of its field."""
    if not dialled(number):
        return "has no number that a phone can dial"
    first, *others = _numbers(number)
    if _EXTENSION.search(number):
        others = [one for one in others if one[0] in "+0" and len(one) > _LONGEST_EXTENSION]
    if others:
        return f"has {len(others) + 1} numbers; phones offer the first, {first}"
    return None


def _numbers(text: str) -> Iterator[str]:
    """The numbers in the text, in their order; none if letters stand for digits."""
    text = INVISIBLE.sub("", digits_as_ascii(text)).translate(_WIDE)
    if found := _SCHEME.match(text):
        text = text[found.end() :]
    if "@" in text:  # sip:1001@example.com
        text = text.partition("@")[0]
    if _VANITY.search(text):
        return
    text = _TRUNK.sub("", text, count=1) if _TRUNK.match(text) else text
    if text.lstrip(" (").startswith(("+", "00")):
        text = _NATIONAL.sub(" ", text)
    for part in _ANOTHER.split(text):
        bare = _SEPARATORS.sub("", part)
        for found in _DIALLED.finditer(bare):
            if found[0].strip("+*#"):
                yield found[0]
