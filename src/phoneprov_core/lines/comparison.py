"""Whether the exchange has the lines at a phone that it should have."""

from dataclasses import dataclass
from typing import Protocol

from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, shown
from phoneprov_core.lines.ports import LinesTransaction
from phoneprov_core.lines.rules import numbers_of

_MOST_NAMED = 12


class ExchangeLines(Protocol):
    """What the exchange has of phones and lines."""

    async def numbers(self, mac: str) -> tuple[str, ...]:
        """The numbers of the lines at a phone, in the order of its buttons. Raises ``Refused`` if
        the exchange does not have the phone, or does not show it, and ``TimedOut`` if it does not
        answer within 5 seconds."""

    async def devices(self) -> frozenset[str]:
        """The canonical MACs of the phones that the exchange has. Raises like ``numbers``."""


@dataclass(frozen=True)
class CompareLines:
    """Reads the lines of a phone back from the exchange."""

    database: ReadAndWrite[LinesTransaction]
    exchange: ExchangeLines
    clock: Clock

    async def __call__(self, mac: str) -> tuple[bool | None, str]:
        """Whether the exchange has the lines of the phone, None if that is not known, and a
        sentence that names them."""
        try:
            there = await self.exchange.numbers(mac)
            async with self.database.read() as tx:
                phone = await tx.lines.at(mac)
        except PhoneprovError as error:
            return None, error.message
        numbers = numbers_of(phone, shown(self.clock())) if phone else ()
        wanted = tuple(one.number for one in numbers)
        if there == wanted:
            return True, f"Asterisk has {_named(there)} at the phone."
        return (
            False,
            f"Asterisk has {_named(there)} at the phone, and should have {_named(wanted)}.",
        )


def _named(numbers: tuple[str, ...]) -> str:
    if not numbers:
        return "no line"
    more = len(numbers) - _MOST_NAMED
    text = ", ".join(numbers[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"the line {text}" if len(numbers) == 1 else f"the lines {text}"
