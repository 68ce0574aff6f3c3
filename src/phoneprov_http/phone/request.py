"""A request of a phone, read leniently."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from litestar.types import HTTPScope

from phoneprov_core.features.desks.pages import charset_of
from phoneprov_core.inventory.phones.model import bare_model
from phoneprov_core.people.users.model import User
from phoneprov_http.phone.language import Languages

LARGEST = 2048
"""Bytes of a query or a body. What a phone sends is shorter."""

_MOST_FIELDS = 20
_LONGEST_VALUE = 255
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,64}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_DEVICE = re.compile(r"[A-Za-z0-9]{1,32}")
_POSTING = re.compile(r"(?:78|88)[0-9]{2}")


class PhoneRequest:
    """What a phone sent. ``device`` is the device name, empty without one; ``model`` what the phone
    says of itself, None if nothing; ``posts`` tells a phone that can send a form in the body of a
    POST; ``say`` gives texts in the language of the reader, at first that of the phone."""

    def __init__(self, scope: HTTPScope, body: bytes, base: str, languages: Languages) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        self.method = scope["method"]
        self.parameters = {**_fields(scope["query_string"]), **_fields(body)}
        self.ip = str(scope["state"]["client_ip"])
        self.charset = charset_of(
            headers.get(b"accept-charset", "") or headers.get(b"x-ciscoipphone-accept-charset", "")
        )
        self._languages = languages
        self.say = languages.of_phone(headers.get(b"accept-language", ""), self.charset)
        model = headers.get(b"x-ciscoipphonemodelname", "")[:64]
        self.model = model if model and model.isprintable() else None
        self.posts = _POSTING.match(bare_model(model)) is not None
        # A phone that does not know #DEVICENAME# leaves it as it is, and may add its name.
        device = self["device"]
        self.device = self["name"] if device in {"", "#DEVICENAME#"} else device
        self._base = base or _base_of(scope, headers)

    def __getitem__(self, name: str) -> str:
        """A parameter without the blanks around it; empty if it was not sent."""
        return self.parameters.get(name, "").strip()

    def speak_to(self, user: User) -> None:
        """Show texts in the language of this user from now on."""
        self.say = self._languages.of_user(user.lang, self.charset)

    def url(self, path: str, **parameters: str) -> str:
        """The address of another page of this phone."""
        device = self.device if _DEVICE.fullmatch(self.device) else ""
        query = urlencode({"device": device, **parameters})
        return f"{self._base}/phone/{path}?{query}"


def _fields(encoded: bytes) -> Mapping[str, str]:
    """The fields of a form. Phones send UTF-8, some ISO 8859-1."""
    if not encoded or len(encoded) > LARGEST:
        return {}
    text = encoded.decode("latin-1")
    try:
        pairs = _pairs(text, "utf-8", "strict")
    except UnicodeDecodeError:
        pairs = _pairs(text, "latin-1", "replace")
    return {name: value[:_LONGEST_VALUE] for name, value in reversed(pairs)}


def _pairs(text: str, encoding: str, errors: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            text,
            keep_blank_values=True,
            encoding=encoding,
            errors=errors,
            max_num_fields=_MOST_FIELDS,
        )
    except UnicodeDecodeError:
        raise
    except ValueError:  # too many fields
        return []


def _base_of(scope: HTTPScope, headers: Mapping[bytes, str]) -> str:
    host = headers.get(b"host", "")
    if not _HOST.fullmatch(host):
        address, port = scope.get("server") or ("localhost", 80)
        host = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    return f"{scope['scheme']}://{host}"
