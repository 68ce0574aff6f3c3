"""Which names and parameters of URLs hold secrets, and how a text is shown without them. Every
pattern is linear: a run of characters is possessive (``++``), and no two starts share one."""

import re
from collections.abc import Callable

Mask = Callable[[str], str]
"""The text in place of a secret."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STEM = re.compile("passw(?:or)?d|passphrase|passcode|secret")
_WORDS = frozenset(
    {"pass", "pwd", "pin", "pins", "psk", "community", "communities", "token", "credential"}
)
_LOGIN = frozenset({"name", "id", "user", "username"})
# "Key" alone may be one to press: another word of the name decides.
_KINDS_OF_KEY = frozenset(
    {
        "access", "api", "auth", "authentication", "crypt", "eap", "encryption", "master",
        "preshared", "priv", "privacy", "private", "radius", "session", "shared", "signing",
        "snmp", "ssh", "wep", "wpa",
    }
)  # fmt: skip
_USER_IN_URL = re.compile(r"(?<=://)[^\s/<>\"'?#]+(?=@)")
_IN_QUERY = re.compile(r"(?<=[?&;#])([\w.-]++)=([^&;#\s<>\"']++)")
_PARAMETERS = frozenset({"apikey", "auth", "key", "session", "sig", "signature"})


def names_secret(name: str) -> bool:
    """Whether an element or attribute of this name holds a secret: a password, a PIN, a key, an
    SNMP community, a login name. The words of the name decide: ``spanToPCPort`` holds no PIN, and
    ``holdResumeKey`` is a key to press."""
    if _STEM.search(name.casefold()):
        return True
    words = [word.casefold() for word in _WORD.findall(name)]
    if not words:
        return False
    return (
        not _WORDS.isdisjoint(words)
        or (words[0] == "auth" and not _LOGIN.isdisjoint(words))
        or (words[-1] in {"key", "keys"} and not _KINDS_OF_KEY.isdisjoint(words))
    )


def has_secret_in_url(text: str) -> bool:
    """Whether a URL in a text contains a login or a parameter that is a secret."""
    return bool(_USER_IN_URL.search(text)) or any(
        _is_secret_parameter(found[1]) for found in _IN_QUERY.finditer(text)
    )


def stars(_secret: str) -> str:
    """The plain mask."""
    return "***"


def masked_urls(text: str, mask: Mask = stars) -> str:
    """The text with the logins, and the parameters that are secrets, of URLs in it masked."""
    text = _USER_IN_URL.sub(lambda found: mask(found[0]), text)
    return _IN_QUERY.sub(lambda found: _parameter(found[1], found[2], mask), text)


def _parameter(name: str, value: str, mask: Mask) -> str:
    return f"{name}={mask(value) if _is_secret_parameter(name) else value}"


def _is_secret_parameter(name: str) -> bool:
    """Some words name secrets in URLs only: the element ``key`` is a key of the phone."""
    return names_secret(name) or name.casefold() in _PARAMETERS
