"""Limits on switches by callers that do not hold level 0."""

import math

from msgspec import Struct

from phoneprov_core.deployments.errors import TooManySwitches
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.rates import Rate, RateStore

SWITCHES_PER_PHONE = 30
PHONES_PER_CALLER = 60
_TEN_MINUTES = 10 * 60 * 1000
_HOUR = 60 * 60 * 1000


class SwitchLimits(Struct, frozen=True):
    """Maximum number of switches of one phone in 10 minutes, and of different phones that one
    caller switches in an hour; 0 for no limit. A login at a phone counts as a switch."""

    per_phone: int = SWITCHES_PER_PHONE
    per_caller: int = PHONES_PER_CALLER

    async def count(self, rates: RateStore, actor: Actor, mac: str, now: int) -> None:
        """Count a switch, unless the caller holds level 0. Raises
        ``TooManySwitches``."""
        if actor.holds(SUPERADMIN):
            return
        phone = Rate(self.per_phone, _TEN_MINUTES)
        if wait := await rates.add(f"phone {mac}", phone, now):
            raise _too_many("This phone was switched too often", wait)
        caller = Rate(self.per_caller, _HOUR)
        if wait := await rates.add(f"caller {actor.user_uuid}", caller, now, item=f"{mac},"):
            raise _too_many("You switched too many different phones", wait)


DEFAULT_LIMITS = SwitchLimits()


def _too_many(what: str, wait: int) -> TooManySwitches:
    seconds = math.ceil(wait / 1000)
    return TooManySwitches(f"{what}; try again in {seconds} seconds.", retry_after=seconds)
