"""The rates of switches."""

import math
from typing import Literal

from msgspec import Struct

from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.system import Rate, RateStore
from phoneprov_core.switching.deployments.model import TooManySwitches

SWITCHES_PER_PHONE = 30
PHONES_PER_CALLER = 60
What = Literal["switch", "preview"]

_TEN_MINUTES = 10 * 60 * 1000
_HOUR = 60 * 60 * 1000


class SwitchLimits(Struct, frozen=True):
    """Maximum number of switches of one phone in 10 minutes, and of different phones that one
    caller switches in an hour; 0 for no limit. A login at a phone counts as a switch. Previews,
    which log in to the phone too, have the same limits and counts of their own."""

    per_phone: int = SWITCHES_PER_PHONE
    per_caller: int = PHONES_PER_CALLER

    async def count(
        self, rates: RateStore, actor: Actor, mac: str, now: int, what: What = "switch"
    ) -> None:
        """Count a switch or a preview of a caller without level 0. Raises ``TooManySwitches``."""
        if actor.holds(SUPERADMIN):
            return
        done = {"switch": "switched", "preview": "previewed"}[what]
        phone = Rate(self.per_phone, _TEN_MINUTES)
        if wait := await rates.add(f"{what} of {mac}", phone, now):
            raise _too_many(f"This phone was {done} too often", wait)
        caller, subject = Rate(self.per_caller, _HOUR), f"{what} by {actor.user_uuid}"
        if wait := await rates.add(subject, caller, now, item=f"{mac},"):
            raise _too_many(f"You {done} too many different phones", wait)


DEFAULT_LIMITS = SwitchLimits()


def _too_many(what: str, wait: int) -> TooManySwitches:
    seconds = math.ceil(wait / 1000)
    return TooManySwitches(f"{what}; try again in {seconds} seconds.", retry_after=seconds)
