"""A phone that speaks the part of SCCP that a registration with chan_sccp needs.

A message is its length (which counts the type), the protocol version of the header, its type, each
32 bits and little-endian, and its fields.
"""

import asyncio
import struct

ENBLOC_CALL = 0x0004
KEEP_ALIVE, REGISTER, UNREGISTER = 0x0000, 0x0001, 0x0027
LINE_STATE, CONFIGURATION, TIME, BUTTONS, CAPABILITIES = 0x000B, 0x000C, 0x000D, 0x000E, 0x0010
SOFT_KEY_SET, SOFT_KEYS, LINES = 0x0025, 0x0028, 0x002D
CAPABILITIES_ASKED, REFUSED, RESET = 0x009B, 0x009D, 0x009F
KEEP_ALIVE_ACK, CALL_STATE = 0x0100, 0x0111

CISCO_7945 = 435
VERSION = 17
ULAW = 4
RINGS = 4


class SccpPhone:
    """A phone with one connection, from ``source`` to ``host``. ``resets`` are the orders: 1 is a
    reset, 2 a restart."""

    host, source = "127.0.0.1", "127.0.0.1"

    def __init__(self, name: str, port: int) -> None:
        self.resets: asyncio.Queue[int] = asyncio.Queue()
        self.rings = asyncio.Event()
        self._name = name
        self._port = port
        self._registered: asyncio.Future[bool]

    async def register(self) -> None:
        """Connect and register; returns after the last message that chan_sccp sends to a new phone.

        While chan_sccp still closes an earlier connection it refuses, and phones try again.
        """
        while True:
            self._registered = asyncio.get_running_loop().create_future()
            reader, self._writer = await asyncio.open_connection(
                self.host, self._port, local_addr=(self.source, 0)
            )
            self._reading = asyncio.create_task(self._read(reader))
            identity = struct.pack("<16sII", self._name.encode(), 0, 1)
            device = struct.pack("<4sIII", bytes([127, 0, 0, 1]), CISCO_7945, 5, 0)
            features = bytes([VERSION, 0, 0x60, 0x85])
            self._send(REGISTER, identity + device + features + bytes(132))
            if await self._registered:
                return
            await self.disconnected()
            await asyncio.sleep(0.5)

    @property
    def is_registered(self) -> bool:
        """Whether the registration is complete and the connection open."""
        return self._registered.done() and self._registered.result() and not self._reading.done()

    async def leave(self) -> None:
        """Unregister, wait until chan_sccp closes the connection, and close it.

        chan_sccp closes it when it has removed the device's buttons. If the phone registers
        earlier, two threads remove them: chan_sccp 4.3 then crashes.
        """
        self._send(UNREGISTER)
        await self._reading
        self._writer.close()

    async def disconnected(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._reading

    def keep_alive(self) -> None:
        """chan_sccp unregisters a phone that is silent for minutes."""
        self._send(KEEP_ALIVE)

    def dial(self, number: str) -> None:
        """Call a number from the first line, all digits at once."""
        self._send(ENBLOC_CALL, number.encode().ljust(28, b"\0") + (1).to_bytes(4, "little"))

    def _send(self, kind: int, fields: bytes = b"") -> None:
        self._writer.write(struct.pack("<III", len(fields) + 4, 0, kind) + fields)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                size, _, kind = struct.unpack("<III", await reader.readexactly(12))
                self._handle_message(kind, await reader.readexactly(size - 4))
        except (asyncio.IncompleteReadError, ConnectionError):
            self._has(registered=False)

    def _has(self, *, registered: bool) -> None:
        if not self._registered.done():
            self._registered.set_result(registered)

    def _handle_message(self, kind: int, fields: bytes) -> None:
        if kind == REFUSED:
            self._has(registered=False)
        elif kind == CAPABILITIES_ASKED:
            self._send(CAPABILITIES, struct.pack("<III8x", 1, ULAW, 20))
            for asked in (BUTTONS, SOFT_KEYS, SOFT_KEY_SET, CONFIGURATION):
                self._send(asked)
            self._send(LINE_STATE, struct.pack("<I", 1))
            self._send(LINES, struct.pack("<I", 1))
            self._send(TIME)
            self._send(KEEP_ALIVE)
        elif kind == KEEP_ALIVE_ACK:
            self._has(registered=True)
        elif kind == RESET:
            self.resets.put_nowait(struct.unpack_from("<I", fields)[0])
        elif kind == CALL_STATE and struct.unpack_from("<I", fields)[0] == RINGS:
            self.rings.set()
