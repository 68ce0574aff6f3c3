"""Selection of the ways to see that a phone restarted."""

import asyncio
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from msgspec import structs

from phoneprov_core.deployments.observation import PhoneWatch, Watching
from phoneprov_core.kernel.errors import PhoneprovError, TimedOut
from phoneprov_core.phones.model import Phone, speaks_sip


@dataclass(frozen=True)
class Watch:
    """Watches phones by the events of an exchange and over their own web servers.

    ``events`` are the stronger evidence: a phone that registers has started. An SCCP phone is
    watched by events alone if that works. The events of SIP phones may be withheld from the account
    without notice: a SIP phone is watched in both ways, and the first one to see it counts. Each
    way is None where it is not configured. ``seconds`` is the maximum waiting time for a phone, 0
    to disable watching.
    """

    events: PhoneWatch | None
    web: PhoneWatch | None
    _: KW_ONLY
    seconds: float

    async def begin(self, phone: Phone, software_type: str | None) -> Watching | None:
        """Start watching; None if no way works. ``software_type`` is the firmware family of the
        phone's record or else of the profile."""
        if not self.seconds:
            return None
        phone = structs.replace(phone, software_type=software_type)
        if not speaks_sip(software_type):
            return await _begin(self.events, phone) or await _begin(self.web, phone)
        begun = await asyncio.gather(_begin(self.events, phone), _begin(self.web, phone))
        watchings = [watching for watching in begun if watching is not None]
        return _All(watchings) if watchings else None


async def _begin(way: PhoneWatch | None, phone: Phone) -> Watching | None:
    try:
        return await way.begin(phone) if way else None
    except PhoneprovError:
        return None


class _All(Watching):
    """Several watches of one phone."""

    def __init__(self, watchings: Sequence[Watching]) -> None:
        self._watchings = watchings

    async def returned(self, seconds: float) -> str:
        """The observation of the first watch that saw it. If none saw the phone, raises the error
        of the only one, or ``TimedOut`` with all their messages."""
        waiting = [asyncio.ensure_future(one.returned(seconds)) for one in self._watchings]
        errors: list[PhoneprovError] = []
        try:
            for one in asyncio.as_completed(waiting):
                try:
                    return await one
                except PhoneprovError as error:
                    errors.append(error)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        if len(errors) == 1:
            raise errors[0]
        raise TimedOut(" ".join(error.message for error in errors))

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self._watchings))
