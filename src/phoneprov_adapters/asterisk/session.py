"""A session on Asterisk's manager interface: actions and their responses, and events for
listeners."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from phoneprov_core.switching.devices.ports import always

BANNER = "Asterisk Call Manager"
MESSAGE_LIMIT = 64 * 1024
"""Maximum bytes of one line and of one message."""

PAUSE_EVERY = 64 * 1024
PAUSE_SECONDS = 0.01
"""After 64 KiB the reader sleeps for 10 ms. Parsing 64 KiB takes about 3 ms, so a peer that sends
events without end uses at most a quarter of the event loop's time; TCP flow control slows it
down."""

LINE_COST = 32
"""Bytes counted in addition for each line: an empty line takes as long to parse as a short one."""

Message = dict[str, str]
"""The fields of a message: names in lower case, the first value of each name."""


class Broken(Exception):
    """The connection ended, or the peer does not speak the manager protocol."""


def written(name: str, action_id: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """One action as bytes. Names and values must hold no line ends."""
    lines = (("Action", name), ("ActionID", action_id), *fields)
    return "".join(f"{key}: {value}\r\n" for key, value in lines).encode() + b"\r\n"


class Messages:
    """Reads messages from a stream. Every method raises ``Broken``."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._until_pause = PAUSE_EVERY

    async def banner(self) -> None:
        """Read the first line; raises ``Broken`` if it is not a manager's greeting."""
        if not (await self._line()).startswith(BANNER):
            raise Broken

    async def response(self, action_id: str) -> Message:
        """The response to one action. Events and other responses are skipped."""
        while True:
            message = await self.next()
            is_response = "response" in message and "event" not in message
            if is_response and message.get("actionid") == action_id:
                return message

    async def next(self) -> Message:
        """The next message of any kind."""
        message: Message = {}
        size = 0
        while line := await self._line():
            size += len(line)
            if size > MESSAGE_LIMIT:
                raise Broken
            name, colon, value = line.partition(":")
            if colon:
                message.setdefault(name.strip().lower(), value.strip())
        return message

    async def _line(self) -> str:
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Broken from None
        self._until_pause -= len(line) + LINE_COST
        if self._until_pause < 0:
            self._until_pause = PAUSE_EVERY
            await asyncio.sleep(PAUSE_SECONDS)
        return line.decode("utf-8", "replace").rstrip("\r\n")


LOGOFF_SECONDS = 1.0
"""Seconds to wait for Asterisk to close the connection after a logoff."""

SILENT_SECONDS = 2.5
"""Seconds without any data from Asterisk, while an action is unanswered, after which the connection
counts as half open and is dropped."""

MOST_ACTIONS = 8
"""Maximum number of unanswered actions without a list: after a lost connection, the outcome of so
many actions is unknown."""

MOST_ENTRIES = 50_000
"""Maximum number of entries in one list."""

_FILTER = "^Event: (DeviceStatus|ContactStatus)|UserEvent: PhoneprovDrill"
"""The events that Asterisk sends. Asterisk may refuse the filter for an account without ``write =
system``, and then sends all events of the login's classes."""


class Silent(Broken):
    """Asterisk sent nothing while an action was unanswered."""


class Listener(Protocol):
    """Receives events."""

    def receive(self, event: Message) -> None:
        """One event."""

    def disconnected(self) -> None:
        """The connection ended; no more events will come."""


class Answer(Struct, frozen=True):
    """The response to an action, and the entries of its list."""

    response: Message
    entries: tuple[Message, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether Asterisk accepted the action."""
        return self.response.get("response", "").lower() == "success"

    @property
    def message(self) -> str:
        """The text of the response, in lower case; for comparison only, never repeated in
        messages."""
        return self.response.get("message", "").lower()


class _Pending:
    """A running action: collects its response, then the entries of its list until the event
    ``complete``."""

    def __init__(self, action_id: str, complete: str, wanted: frozenset[str]) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._action_id = action_id
        self._complete = complete
        self._wanted = wanted
        self._response: Message | None = None
        self._entries: list[Message] = []

    def receive(self, message: Message) -> None:
        event = message.get("event", "")
        # Not every release of chan_sccp repeats the ActionID in the entries of its lists.
        if self.answer.done() or message.get("actionid", self._action_id) != self._action_id:
            return
        # Events such as OriginateResponse have a field Response, too.
        if "response" in message and "actionid" in message and not event:
            self._response = message
            if not self._complete or not Answer(message).ok:
                self.answer.set_result(Answer(message))
        elif self._response is not None and event == self._complete and event:
            self.answer.set_result(Answer(self._response, tuple(self._entries)))
        elif event in self._wanted:
            self._entries.append(message)
            if len(self._entries) > MOST_ENTRIES:
                self.answer.set_exception(Broken())


class Session:
    """A connection with a completed login. Actions with a list are sent one after the other."""

    def __init__(self, messages: Messages, writer: asyncio.StreamWriter) -> None:
        self.users = 0
        self.has_events = False
        """Whether Asterisk sent an event, as it does after the login of an account with read =
        system (FullyBooted)."""
        self.listeners: set[Listener] = set()
        self._writer = writer
        self._lists, self._actions = asyncio.Lock(), asyncio.Semaphore(MOST_ACTIONS)
        self._pending: set[_Pending] = set()
        self._count = 0
        self._has_filter = False
        self._heard = 0.0
        self._ping: asyncio.Future[Answer] | None = None
        self._reading = asyncio.create_task(self._read(messages))
        # The callback runs also if the task is cancelled before it began.
        self._reading.add_done_callback(self._ended)

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return not (self._reading.done() or self._reading.cancelling())

    async def ask(
        self,
        name: str,
        fields: Iterable[tuple[str, str]] = (),
        *,
        complete: str = "",
        wanted: frozenset[str] = frozenset(),
        before: Callable[[], Awaitable[None]] = always,
        sent: Callable[[], None] = lambda: None,
    ) -> Answer:
        """Perform an action and return its response. For an action with a list, ``complete`` is the
        name of the event that ends the list, and ``wanted`` are the names of its entries. Awaits
        ``before`` immediately before the action is sent, and calls ``sent`` after it was written.
        Raises ``Broken``."""
        async with self._lists if complete else self._actions:
            await before()
            if not self.is_open:
                raise Broken
            pending = _Pending(self._send(name, fields), complete, wanted)
            self._pending.add(pending)
            sent()
            try:
                return await self._answered(pending.answer)
            finally:
                if complete and not pending.answer.done():
                    self.drop()  # late entries would be taken for the next list
                self._pending.discard(pending)
                pending.answer.cancel()

    async def ping(self) -> None:
        """Return when Asterisk has answered a Ping: all earlier events have then been received.
        Concurrent callers share one Ping. Raises ``Broken``."""
        if self._ping is None or self._ping.done():
            self._ping = asyncio.ensure_future(self.ask("Ping"))
            self._ping.add_done_callback(lambda ping: ping.cancelled() or ping.exception())
        await asyncio.shield(self._ping)

    async def _answered(self, answer: asyncio.Future[Answer]) -> Answer:
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        while not answer.done():
            left = self._heard + SILENT_SECONDS - loop.time()
            if left <= 0:
                self.drop()
                raise Silent
            await asyncio.wait({answer}, timeout=left)
        return answer.result()

    def listen(self, listener: Listener) -> None:
        """Pass events to the listener from now on."""
        self.listeners.add(listener)
        if not self._has_filter:
            self._has_filter = True
            self._send("Filter", (("Operation", "Add"), ("Filter", _FILTER)))

    def drop(self) -> None:
        """Close the connection without logoff: Asterisk does not answer."""
        self._writer.transport.abort()
        self._reading.cancel()

    async def end(self) -> None:
        """Log off and close the connection."""
        try:
            if self.is_open:
                self._send("Logoff")
                # Asterisk closes the connection after the logoff is complete: with
                # allowmultiplelogin = no, an earlier login would be refused.
                await asyncio.wait({self._reading}, timeout=LOGOFF_SECONDS)
        finally:
            self._reading.cancel()
            self._writer.transport.abort()
        await asyncio.wait({self._reading})
        await abort(self._writer)

    def _send(self, name: str, fields: Iterable[tuple[str, str]] = ()) -> str:
        """Send an action, and return its id."""
        self._count += 1
        action_id = f"phoneprov-{self._count}"
        self._writer.write(written(name, action_id, fields))
        return action_id

    async def _read(self, messages: Messages) -> None:
        while True:
            message = await messages.next()
            self._heard = asyncio.get_running_loop().time()
            for pending in self._pending:
                pending.receive(message)
            if "event" in message:
                self.has_events = True
                for listener in self.listeners:
                    listener.receive(message)

    def _ended(self, reading: asyncio.Task[None]) -> None:
        if not reading.cancelled():
            reading.exception()  # retrieved: the peer ended the connection
        self._writer.transport.abort()
        for pending in self._pending:
            if not pending.answer.done():
                pending.answer.set_exception(Broken())
        for listener in self.listeners:
            listener.disconnected()


async def abort(writer: asyncio.StreamWriter) -> None:
    """Close a connection at once. What was written is sent; a slow TLS shutdown would turn an
    accepted action into a failure."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
