"""Whether a phone is in a call."""

from typing import Protocol

from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.phones.model import Phone


class Calls(Protocol):
    """Finds out whether phones are in a call."""

    async def in_call(self, phone: Phone) -> bool:
        """Whether the phone is known to be in a call. The result may be a few seconds old. Raises
        ``Refused`` and ``TimedOut`` if it cannot be found out."""


async def is_in_call(calls: Calls | None, phone: Phone) -> bool:
    """Whether the phone is known to be in a call; False if calls cannot be observed (None) or the
    state cannot be found out."""
    if calls is None:
        return False
    try:
        return await calls.in_call(phone)
    except PhoneprovError:
        return False
