"""What refuses a deployment: rates of switches, and rights that were lost."""

import math
from typing import Literal

from msgspec import Struct

from phoneprov_core.features.templates.model import MOST_ELEMENTS
from phoneprov_core.features.templates.recipes import lines_of
from phoneprov_core.features.templates.use_cases import UsedLine
from phoneprov_core.inventory.configuration.elements import Element, walk
from phoneprov_core.inventory.extensions import CHAN_PJSIP, CHAN_SIP
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.system import Rate, RateStore
from phoneprov_core.switching.deployments.model import RightsChanged, TooManySwitches
from phoneprov_core.switching.deployments.order import DeploymentRequest
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction

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


async def require_rights(tx: DeploymentsTransaction, order: DeploymentRequest) -> None:
    """Raises ``RightsChanged`` if the owner of the profile is not active, or does not have a line
    that the text was rendered with. A text that was typed names a line that is taken away if it
    has the number and the password of an extension that is in use."""
    owner = order.profile.user_uuid
    user = await tx.users.find(owner)
    if user is None or not user.is_active:
        name = user.username if user else order.profile.name
        raise RightsChanged(f"The user of this configuration, {name}, is not active.")
    rendered = order.source.rendered if order.source else None
    wanted = rendered.lines if rendered else await _lines_in(tx, order.cnf_xml)
    if not wanted:
        return
    held = {line.extension: line.password for line in await lines_of(tx, owner)}
    lost = dict.fromkeys(
        line.number
        for line in wanted
        if line.number not in held or line.password not in {None, held[line.number]}
    )
    if lost:
        some = "the number" if len(lost) == 1 else "the numbers"
        raise RightsChanged(
            f"This configuration was made with {some} {', '.join(lost)}, which its user no longer "
            "has, or has with another password."
        )


async def _lines_in(tx: DeploymentsTransaction, cnf_xml: str) -> tuple[UsedLine, ...]:
    """The lines of a typed text that would register: number and password of an extension."""
    typed: list[dict[str, str]] = []

    def on_end(element: Element) -> None:
        above = element.parent
        if element.name == "line":
            typed.append(fields.pop(id(element), {}))
        elif above is not None and above.name == "line":
            fields.setdefault(id(above), {})[element.name] = element.text.strip()

    fields: dict[int, dict[str, str]] = {}
    walk(cnf_xml.encode(), on_end)
    found = []
    for line in typed[:MOST_ELEMENTS]:
        number = line.get("authName") or line.get("name") or ""
        password = line.get("authPassword") or ""
        for kind in (CHAN_PJSIP, CHAN_SIP) if number and password else ():
            uuid = await tx.lines.uuid_of(number, kind)
            extension = await tx.extensions.find(uuid) if uuid else None
            if extension is not None and extension.password == password:
                found.append(UsedLine(number, password))
    return tuple(found)
