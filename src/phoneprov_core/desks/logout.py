"""Logging out: by the user at the phone, by an administrator, and afterwards what is due."""

from dataclasses import dataclass

from phoneprov_core.access.rules import may_act_for
from phoneprov_core.deployments.model import Action
from phoneprov_core.deployments.order import Order
from phoneprov_core.desk_records import DeskRecord, Due
from phoneprov_core.desks.change import After, Changed, ChangeDesk
from phoneprov_core.desks.login import actor_at, require_user
from phoneprov_core.desks.model import AtPhone
from phoneprov_core.desks.ports import DesksTransaction, NotLoggedIn
from phoneprov_core.desks.tokens import PageTokens, Purpose
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.phones.model import Phone


@dataclass(frozen=True)
class LogOut:
    """Puts the default profile back onto a phone. A phone in a call is not restarted until the call
    is over: the user is logged out at once, and the default profile follows."""

    database: ReadAndWrite[DesksTransaction]
    change: ChangeDesk
    tokens: PageTokens

    def form(self, at: AtPhone) -> str:
        """The token of the page that asks. Raises ``Conflict`` while no user is logged in."""
        require_user(at)
        return self.tokens.issue(Purpose.LOGOUT, at.desk)

    async def at_phone(self, at: AtPhone, token: str) -> Changed:
        """Log out at the phone. Raises ``Conflict`` for an old token and while no user is logged
        in, and everything that ``Deploy`` raises; the user stays logged in then."""
        user = require_user(at)
        self.tokens.read(Purpose.LOGOUT, at.desk, token)
        actor = actor_at(at.ip, user)
        begun = await self._begun(actor, at.phone, at.desk)
        if isinstance(begun, Changed):
            return begun
        return await self.change.put_and_answer(actor, begun)

    async def __call__(self, actor: Actor, mac: str) -> str:
        """Log out the user at a phone, and return its canonical MAC. Raises ``NotFound`` for an
        unknown phone, and for callers without level 0 that are not logged in there; ``NotLoggedIn``
        while no user is logged in; and everything that ``Deploy`` raises."""
        async with self.database.read() as tx:
            state = await tx.desks.at(known_mac(mac))
        if state is None or not may_act_for(actor, state.desk.user_uuid or ""):
            raise NotFound("There is no such desk.")
        if state.desk.user_uuid is None:
            raise NotLoggedIn
        begun = await self._begun(actor, state.phone, state.desk)
        if isinstance(begun, Changed):
            begun.answered()
        else:
            await self.change.put(actor, begun)
        return state.phone.mac

    async def _begun(self, actor: Actor, phone: Phone, desk: DeskRecord) -> Order | Changed:
        """The order that puts the default profile back. ``Changed`` if none is carried out now: the
        phone is in a call, or has no default profile."""
        order = await self.change.default_order(desk, phone, Action.LOGOUT, desk.turn)
        if await self.change.is_in_call(phone):
            async with self.database.write(by=actor) as tx:
                current = (await tx.desks.find(phone.mac)).in_turn(desk.turn)
                await tx.desks.put(current.ended(Due.LOGOUT))
                tx.trail.note(Event("desk.logout", "desk", phone.mac))
            return Changed(After.CALL if order else After.NOTHING, _nothing)
        return order or await self.change.leave(actor, phone, desk.turn)


def _nothing() -> None:
    """The phone is called later."""
