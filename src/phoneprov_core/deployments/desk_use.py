"""Who uses a phone, as deployments change it."""

from typing import Protocol

from msgspec import Struct


class DeskUse(Struct, frozen=True):
    """Who uses a phone: the user, the profile, and when the use ends; None for no user, and for
    a use without an end."""

    user_uuid: str | None = None
    profile_uuid: str | None = None
    until: str | None = None


class DeskSessions(Protocol):
    """The session of each phone: who uses it, and which turn it is.

    A turn is a number that grows with every change of the phone. What was shown to a phone in
    one turn cannot change anything in a later one.
    """

    async def default_profile(self, mac: str) -> str | None:
        """The uuid of the profile that the phone has while no user is logged in, or None. The
        profile may not exist any more."""

    async def take_turn(self, mac: str, turn: int | None) -> bool:
        """Begin the next turn of the phone, in one statement. False, and nothing is changed,
        when ``turn`` is given and is not the current one: of any number of callers with the same
        turn one succeeds. The turn of a phone without a record is 0."""

    async def begin_change(self, mac: str, change_uuid: str, user_uuid: str | None) -> None:
        """Record that a login (of ``user_uuid``) or another change (None) is under way; it
        replaces the change recorded before."""

    async def end_change(self, mac: str, change_uuid: str) -> None:
        """Record that this change is over. Does nothing if another one is recorded."""

    async def use(self, mac: str, use: DeskUse, now: str) -> None:
        """From now on ``use`` says who uses the phone. Begins the next turn; a logout that was
        due is done. The users named need not exist."""

    async def end_user(self, user_uuid: str) -> int:
        """End the use of every phone by the user; a logout is due there. Returns the number of
        phones."""

    async def is_elsewhere(self, user_uuid: str, mac: str) -> bool:
        """Whether the user uses another phone than this one, or is just logging in there."""

    async def end_elsewhere(self, user_uuid: str, mac: str) -> int:
        """End the use of every other phone by the user; a logout is due there. Returns the
        number of phones."""
