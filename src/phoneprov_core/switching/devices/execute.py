"""Commands to a phone's own web server (CGI/Execute), and its replies in XML, without IO."""

import re
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlencode
from xml.parsers import expat

from phoneprov_core.kernel.errors import Invalid, Refused
from phoneprov_core.switching.devices.ports import REPLY_LOST

_URI = re.compile(r"[\x21-\x7e]{1,256}")
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_XML_LIMIT = 512


def execute_body(uri: str) -> bytes:
    """The form that has a phone execute one command.

    One field ``XML`` that holds a ``CiscoIPPhoneExecute`` with one item, at most 512 bytes of XML,
    as Cisco's XML services guide requires. Raises ``Invalid`` unless the command is 1 to 256
    printable ASCII characters and fits when escaped.
    """
    xml = (
        "<CiscoIPPhoneExecute>"
        f'<ExecuteItem Priority="0" URL="{escape(uri)}"/>'
        "</CiscoIPPhoneExecute>"
    )
    if not _URI.fullmatch(uri) or len(xml) > _XML_LIMIT:
        raise Invalid("This command is too long for a phone, or is not plain ASCII.")
    return urlencode({"XML": xml}).encode("ascii")


def read_execute_reply(status: int, body: bytes, *, may_be_empty: bool = False) -> None:
    """Returns if the phone's reply to a command says that it succeeded; with ``may_be_empty`` also
    for an empty reply.

    Raises ``Refused`` for every other reply, with the code ``REPLY_LOST`` for one that cannot be
    parsed. The message contains the phone's error number and no text of the reply.
    """
    require_no_redirect(status, body)
    if status in {401, 403}:
        raise Refused(f"The phone refused the login (HTTP {status}); {_CHECK_LOGIN}")
    if status != 200:
        raise Refused(
            f"The phone's web server answered HTTP {status} to the command; "
            "check that its web access is enabled."
        )
    if may_be_empty and not body.strip():
        return
    try:
        root, *inner = elements_of(body)
    except ValueError:
        raise _nonsense() from None
    if root.name == "CiscoIPPhoneError":
        number = _number(root.attributes.get("Number"))
        raise Refused(_ERROR_WORDS.get(number, f"The phone refused the command (error {number})."))
    items = [one for one in inner if one.depth == 1 and one.name == "ResponseItem"]
    if root.name != "CiscoIPPhoneResponse" or not items:
        raise _nonsense()
    for item in items:
        if number := _number(item.attributes.get("Status")):
            raise Refused(f"The phone could not execute the command (status {number}).")


def require_no_redirect(status: int, place: bytes) -> None:
    """Raises ``Refused`` if the web server redirects to HTTPS, which is not followed: the password
    would be sent to a place that the settings do not name."""
    if 300 <= status < 400 and place.lower().startswith(b"https:"):
        raise Refused(
            f"The phone's web server redirects to HTTPS (HTTP {status}); set "
            "PHONEPROV_PHONE_SCHEME=https, and PHONEPROV_PHONE_HTTP_PORT to its port, usually 443."
        )


_CHECK_LOGIN = (
    "check PHONEPROV_PHONE_USER, PHONEPROV_PHONE_PASSWORD and the phone's authentication URL."
)

_ERROR_WORDS = {
    # Old firmware sends 0 with the meaning of 4; 6 was observed after a malformed request.
    0: f"The phone refused the login (error 0); {_CHECK_LOGIN}",
    1: "The phone could not read the command (error 1); its firmware may not support it.",
    2: "The phone could not put its answer together (error 2); try again.",
    3: "The phone had an internal file error (error 3); restart it by hand.",
    4: f"The phone refused the login (error 4); {_CHECK_LOGIN}",
    6: "The phone could not handle the request (error 6); try again or restart it by hand.",
}


def _number(text: str | None) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise _nonsense()
    return int(text)


def _nonsense() -> Refused:
    return Refused("The phone's reply cannot be parsed; check its phone_ip.", code=REPLY_LOST)


def require_phone(expected: str, found: str | None) -> None:
    """Raises ``Refused`` if the phone found at the recorded address is another one; ``found``
    is None if it does not report its MAC."""
    if found is not None and found != expected:
        raise Refused(
            f"Another phone, {found}, answers at the address recorded for {expected}; "
            "correct its phone_ip."
        )


REPLY_LIMIT = 64 * 1024
"""Maximum number of bytes in a phone's reply."""


@dataclass
class Element:
    """An element: its depth, 0 for the root, and the pieces of the text that it holds itself."""

    depth: int
    name: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without surrounding blanks."""
        return "".join(self.pieces).strip()


def elements_of(body: bytes) -> list[Element]:
    """Every element in order, the root first. Decoded as ISO 8859-1 regardless of its declaration:
    the relevant text is ASCII, and this decoding never fails. Raises ``ValueError`` if the reply is
    not well-formed, has a document type, or is longer than ``REPLY_LIMIT``."""
    if len(body) > REPLY_LIMIT:
        raise ValueError
    found: list[Element] = []
    open_: list[Element] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(len(open_), name, attributes)
        found.append(element)
        open_.append(element)

    def end(_name: str) -> None:
        open_.pop()

    def text(characters: str) -> None:
        open_[-1].pieces.append(characters)

    def refuse(*_declaration: object) -> None:
        raise ValueError

    parser = expat.ParserCreate("iso-8859-1")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body.removeprefix(b"\xef\xbb\xbf").strip(), True)
    except expat.ExpatError:
        raise ValueError from None
    return found
