"""A stub of Asterisk's manager interface that checks the format of the lines that it receives."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress

from support.ftp_faults import reset
from support.stub_server import StubServer

Fields = list[tuple[str, str]]
Say = Callable[[str], bytes]
"""The bytes of the response to an action, given its ActionID."""

BANNER = b"Asterisk Call Manager/9.0.0\r\n"
USER, SECRET = "phoneprov", "secret-word"


def success(message: str) -> Say:
    return lambda action_id: (
        f"Response: Success\r\nActionID: {action_id}\r\nMessage: {message}\r\n\r\n".encode()
    )


def failure(message: str) -> Say:
    return lambda action_id: (
        f"Response: Error\r\nActionID: {action_id}\r\nMessage: {message}\r\n\r\n".encode()
    )


def raw(content: bytes) -> Say:
    return lambda _action_id: content


def event(name: str, **fields: str) -> bytes:
    lines = [f"Event: {name}", *(f"{key}: {value}" for key, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode()


def listing(complete: str, *entries: tuple[str, dict[str, str]]) -> Say:
    """A list as Asterisk sends it: a response, the entries, an end."""

    def say(action_id: str) -> bytes:
        response = (
            f"Response: Success\r\nActionID: {action_id}\r\nEventList: start\r\n\r\n".encode()
        )
        for name, fields in entries:
            response += event(name, ActionID=action_id, **fields)
        return response + event(complete, ActionID=action_id, EventList="Complete")

    return say


def endpoint(*contacts: tuple[str, ...], aors: str = "") -> Say:
    """The response to ``PJSIPShowEndpoint``: URIs, Call-IDs and, if given, Via addresses, AORs and
    ends of the contacts."""
    fields = ("URI", "CallID", "ViaAddress", "AOR", "RegExpire")
    return listing(
        "EndpointDetailComplete",
        ("EndpointDetail", {"ObjectType": "endpoint", "Aors": aors}),
        *(("ContactStatusDetail", dict(zip(fields, one, strict=False))) for one in contacts),
    )


class AmiStub(StubServer):
    """Records every action, fields in order, and lines that are invalid in ``complaints``.

    ``answers`` maps an action's name to its response, or to None for silence. ``pieces``
    sends everything in pieces of that many bytes with a ``pause`` after each. ``between`` is
    sent before every response. After ``hang_up_after``, an action's name or ``banner``, the
    connection is closed. ``asked`` is set with the first action, ``closed`` with the end of
    a connection. With ``one_login`` a login is refused while another connection has logged in.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self.banner: bytes | None = BANNER
        self.answers: dict[str, Say | None] = {}
        self.pieces = 0
        self.pause = 0.0
        self.between = b""
        self.hang_up_after = ""
        self.one_login = False
        self._logged_in: set[asyncio.StreamWriter] = set()
        self.received: list[Fields] = []
        self.complaints: list[str] = []
        self.asked = asyncio.Event()
        self.closed = asyncio.Event()

    @property
    def names(self) -> list[str]:
        """The names of the received actions, in order."""
        return [fields[0][1] for fields in self.received]

    @property
    def performed(self) -> list[Fields]:
        """The actions that change something, without their ActionID, in order."""
        aside = {"Login", "Logoff", "Filter", "PJSIPShowEndpoint"}
        return [
            [field for field in fields if field[0] != "ActionID"]
            for fields in self.received
            if fields[0][1] not in aside
        ]

    async def tell(self, content: bytes) -> None:
        """Send a message, such as an event, on every open connection."""
        for writer in self._writers:
            with suppress(ConnectionError):  # of a client that was killed
                if not writer.is_closing():
                    writer.write(content)
                    await writer.drain()

    def disconnect_all(self) -> None:
        """End all connections."""
        for writer in self._writers:
            writer.close()

    def reset_all(self) -> None:
        """End all connections with a reset."""
        for writer in self._writers:
            reset(writer)

    async def settled(self) -> None:
        """Wait until all clients have disconnected."""
        async with asyncio.timeout(60.0):
            await asyncio.gather(*self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.banner is not None:
                await self._send(writer, self.banner)
            if self.hang_up_after == "banner":
                return
            while fields := await self._read(reader):
                self.received.append(fields)
                self.asked.set()
                named = dict(fields)
                name, action_id = named["Action"], named["ActionID"]
                say = self.answers[name] if name in self.answers else self._usual(named)
                if name == "Login" and self.one_login and self._logged_in:
                    say = failure("Authentication failed")
                elif name == "Login":
                    self._logged_in.add(writer)
                if say:
                    await self._send(writer, self.between + say(action_id))
                if name in {"Logoff", self.hang_up_after}:
                    return
        except OSError:
            pass
        finally:
            self._logged_in.discard(writer)
            writer.close()
            self.closed.set()

    def _usual(self, named: dict[str, str]) -> Say:
        match named["Action"]:
            case "Login" if (named.get("Username"), named.get("Secret")) == (USER, SECRET):
                return success("Authentication accepted")
            case "Login":
                return failure("Authentication failed")
            case "Logoff":
                return lambda action_id: (
                    f"Response: Goodbye\r\nActionID: {action_id}\r\n"
                    "Message: Thanks for all the fish.\r\n\r\n"
                ).encode()
            case "PJSIPShowEndpoint":
                return endpoint(("sip:phone@10.0.0.7:5060", "call-id-1@10.0.0.7"))
            case _:
                return success("Device restarted")

    async def _send(self, writer: asyncio.StreamWriter, content: bytes) -> None:
        size = self.pieces or len(content) or 1
        for start in range(0, len(content), size):
            writer.write(content[start : start + size])
            await writer.drain()
            await asyncio.sleep(self.pause)

    async def _read(self, reader: asyncio.StreamReader) -> Fields:
        fields: Fields = []
        while (line := (await reader.readline()).decode("utf-8", "replace")) not in {"", "\r\n"}:
            name, colon, value = line.removesuffix("\r\n").partition(": ")
            if not line.endswith("\r\n") or not colon or len(line) > 1024:
                self.complaints.append(line)
            fields.append((name, value))
        if fields and fields[0][0] != "Action":
            self.complaints.append("an action does not begin with its name")
        return fields
