"""Phones and a manager interface that only remember what they were told."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence

from phoneprov_adapters.runtime.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_core.deployments.ports import DeviceInformation, PhoneInformation
from phoneprov_core.devices.commands import execute_body, require_single_lines
from phoneprov_core.devices.ports import KeyPress, ManagerAction, ManagerInterface, PhoneCommands
from phoneprov_core.kernel.errors import PhoneprovError


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


class MemoryPhone(PhoneCommands, PhoneInformation):
    """Every phone at once: ``sent`` holds, by canonical address, what each was sent, and
    ``tells`` what each tells of itself, nothing unless it was set.

    Pauses take no time unless a ``sleep`` is given.
    """

    def __init__(
        self,
        networks: PhoneNetworks | None = None,
        sleep: Callable[[float], Awaitable[None]] = _at_once,
    ) -> None:
        self.sent: dict[str, list[str]] = {}
        self.tells: dict[str, DeviceInformation | PhoneprovError] = {}
        self._networks = networks or PhoneNetworks.parse(PRIVATE_RANGES)
        self._sleep = sleep
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failure: tuple[int, PhoneprovError] | None = None

    def fail(self, error: PhoneprovError, *, after: int = 0) -> None:
        """Plan one failure: ``after`` more commands are carried out, the next one, which is
        sent as well, raises ``error``."""
        self._failure = (after, error)

    async def execute(self, phone_ip: str, commands: Sequence[KeyPress]) -> None:
        address = self._networks.allowed(phone_ip)
        for command in commands:
            execute_body(command.uri)
        async with self._turns[address]:
            for command in commands:
                self.sent.setdefault(address, []).append(command.uri)
                self._fail_if_planned()
                await self._sleep(command.pause)

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:  # noqa: ARG002
        await asyncio.sleep(0)
        told = self.tells.get(self._networks.allowed(phone_ip), DeviceInformation())
        if isinstance(told, PhoneprovError):
            raise told
        return told

    def _fail_if_planned(self) -> None:
        if self._failure is None:
            return
        after, error = self._failure
        self._failure = (after - 1, error) if after else None
        if not after:
            raise error


class MemoryManager(ManagerInterface):
    """An Asterisk that accepts every action and keeps it in ``performed``."""

    def __init__(self) -> None:
        self.performed: list[ManagerAction] = []
        self._failures: deque[PhoneprovError] = deque()

    def fail(self, error: PhoneprovError) -> None:
        """Plan that the next action, which is not performed, raises ``error``; several
        planned failures come in turn."""
        self._failures.append(error)

    async def perform(self, action: ManagerAction) -> None:
        require_single_lines(action)
        await asyncio.sleep(0)
        if self._failures:
            raise self._failures.popleft()
        self.performed.append(action)
