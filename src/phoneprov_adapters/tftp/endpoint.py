"""The socket of one TFTP transfer."""

import asyncio
import logging
import socket
from collections.abc import Callable

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.transfer import Transfer, TransferState

log = logging.getLogger("phoneprov.tftp")

REPEAT_SECONDS = 5.0
"""Age of a transfer after which a repeated request opens the file again."""

Load = Callable[[int], "asyncio.Future[None]"]
"""Starts to load the bytes of a file from an offset on."""


class Endpoint:
    """Runs a transfer over a socket of its own.

    Works in callbacks of the loop: a task for each transfer and a timer for each packet cost more
    than the packets. ``ended`` is called once, when the socket is closed and nothing is loaded.
    """

    def __init__(
        self,
        sock: socket.socket,
        transfer: Transfer,
        load: Load,
        seconds: float,
        ended: Callable[[], None],
    ) -> None:
        self.transfer = transfer
        self.started = 0.0
        self._sock = sock
        self._load = load
        self._seconds = seconds
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._loading: asyncio.Future[None] | None = None
        self._is_closed = False

    def start(self) -> None:
        """Send the first packet."""
        self.started = self._loop.time()
        self._loop.add_reader(self._sock, self._receive)
        self._advance(self.transfer.start())
        if not self._is_closed:
            self._timer = self._loop.call_at(self._deadline, self._tick)

    def repeat(self) -> bool:
        """Send the first packet again and return True, unless the client acknowledged it or the
        file was opened too long ago: it may have changed."""
        is_old = self._loop.time() >= self.started + REPEAT_SECONDS
        if self.transfer.is_acknowledged or is_old:
            return False
        self._advance(self.transfer.repeat())
        return True

    def close(self, reason: str = "") -> None:
        """End the transfer if it runs; the client receives the reason, if there is one."""
        if self._is_closed:
            return
        self._is_closed = True
        self.transfer.fail()
        if reason and self.transfer.state is TransferState.FAILED:
            self._send(packets.error(ErrorCode.UNDEFINED, reason))
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        if self._loading is None or self._loading.done():
            self._ended()
        else:
            self._loading.add_done_callback(lambda _: self._ended())
            self._loading.cancel()

    def _receive(self) -> None:
        try:
            packet = self._sock.recv(2048)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # the client's port is closed
            self.close()
            return
        self._advance(self.transfer.receive(packet))

    def _tick(self) -> None:
        """Send again what was not acknowledged in time."""
        now = self._loop.time()
        if now >= self.started + self._seconds:
            log.warning("TFTP transfer ended: it took longer than %s s", self._seconds)
            self.close("The transfer took too long.")
            return
        if now >= self._deadline:
            packet = self.transfer.time_out()
            if self.transfer.state is TransferState.FAILED:
                self.close("The client did not acknowledge a packet in time.")
                return
            self._advance(packet)
        if not self._is_closed:
            # While a file is loaded, or after a packet, the deadline is another one.
            self._timer = self._loop.call_at(max(self._deadline, now + 0.01), self._tick)

    def _advance(self, packet: bytes | None) -> None:
        """Send a packet, load what comes next, or end."""
        if packet is not None:
            self._send(packet)
            self._deadline = self._loop.time() + self.transfer.retry_seconds
        match self.transfer.state:
            case TransferState.LOADING:
                self._deadline = self._loop.time() + self.transfer.retry_seconds
                if self._loading is None:
                    self._loading = self._load(self.transfer.wanted)
                    self._loading.add_done_callback(self._loaded)
            case TransferState.SERVED | TransferState.FAILED:
                self.close()

    def _loaded(self, loading: asyncio.Future[None]) -> None:
        self._loading = None
        if self._is_closed or loading.cancelled():
            return
        if (error := loading.exception()) is not None:
            log.warning("TFTP transfer failed: %s", error)
            self.close("The file cannot be read.")
            return
        self._advance(self.transfer.resume())

    def _send(self, packet: bytes) -> None:
        try:
            self._sock.send(packet)
        except OSError as error:
            # As if it were lost: it is sent again.
            log.debug("TFTP packet was not sent: %s", error)


def connected(
    family: int, host: str, ports: range | None, client: tuple[str, int] | tuple[str, int, int, int]
) -> socket.socket:
    """A non-blocking UDP socket at ``host``, at the first free port of the range, that takes
    packets of this client alone."""
    for port in ports or (0,):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        try:
            sock.setblocking(False)
            sock.bind((host, port))
        except OSError:
            sock.close()
            continue
        try:
            sock.connect(client)
        except OSError:
            sock.close()
            raise
        return sock
    raise OSError("every port for TFTP transfers is in use")
