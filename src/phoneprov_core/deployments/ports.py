"""What deployments need from outside: stores, watches of phones, tasks to run in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol, TypeVar

from msgspec import Struct

from phoneprov_core.deployments.model import Deployment, Wanted
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.rates import RateStore
from phoneprov_core.kernel.store import Store
from phoneprov_core.kernel.trail import Notes
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.ports import ProfilesTransaction
from phoneprov_core.users.model import User

T = TypeVar("T")


class DeploymentRows(Protocol):
    """Those deployments that were asked for. They belong to the account that asked for them,
    and to the owner of the profile they brought."""

    async def count(self, owner: str | None = None) -> int:
        """How many there are, or how many belong to ``owner``."""
        ...

    async def rows(
        self,
        limit: int,
        *,
        after: Deployment | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[Deployment]:
        """At most ``limit`` deployments, oldest first (by creation, then uuid), beginning
        behind ``after``, then leaving out ``offset``; only those that belong to ``owner`` if
        given."""
        ...

    async def newest(
        self, limit: int, *, before: Deployment | None = None, owner: str | None = None
    ) -> list[Deployment]:
        """At most ``limit`` deployments, newest first (by creation, then uuid), beginning after
        ``before``; only those that belong to ``owner`` if given. The cost does not depend on
        the number of deployments."""
        ...


class DeploymentStore(Protocol):
    """The record of deployments, by uuid.

    What is on a phone now is the deployment with the largest number among those of the phone
    that have a place, whoever it belongs to.
    """

    async def add(self, deployment: Deployment) -> None:
        """Keep a new record. What it names need not exist, now or later. Raises ``Conflict``
        (code ``already_exists``) when the phone has one of this number."""
        ...

    async def find(self, key: str) -> Deployment | None:
        """The deployment, or None. In a writing transaction nobody else changes it until the
        transaction ends."""
        ...

    async def put(self, deployment: Deployment) -> None:
        """Write a record that was added. Raises ``NotFound`` when there is none."""
        ...

    def matching(self, wanted: Wanted) -> DeploymentRows:
        """Those that agree with every field of ``wanted`` that is set."""
        ...

    async def current(self, mac: str) -> Deployment | None:
        """What is on the phone now, or None when nothing is known."""
        ...

    async def previous(self, current: Deployment) -> Deployment | None:
        """What was on the phone before ``current``, if it was another configuration: of those
        with a place and a smaller number the one with the largest number that
        ``brought_other_than`` the current one."""
        ...

    async def interrupt_abandoned(self, now: str) -> int:
        """Mark as interrupted, at ``now``, every running deployment that does not hold its
        phone's lease any more: it is gone, over, or another's. Answers how many."""
        ...


class LeaseStore(Protocol):
    """The right to work on a phone, held by one at a time across all processes.

    Time is the database's own, so that hosts need not agree about it.
    """

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        """Take the phone for ``seconds``, in one statement: the fence, a number that grows
        with every taking of this phone, or None while another holds it. A lease that is over
        can be taken by anybody."""
        ...

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        """Give it back; False when it was lost in between, and then nothing is changed."""
        ...

    async def holder(self, mac: str) -> str | None:
        """Who holds the phone, or None."""
        ...

    async def release_all(self) -> None:
        """Give back every phone: for whoever knows that nobody works any more."""
        ...


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
        ...

    async def take_turn(self, mac: str, turn: int | None) -> bool:
        """Begin the next turn of the phone, in one statement. False, and nothing is changed,
        when ``turn`` is given and is not the current one: of any number of callers with the same
        turn one succeeds. The turn of a phone without a record is 0."""
        ...

    async def begin_change(self, mac: str, change_uuid: str, user_uuid: str | None) -> None:
        """Record that a login (of ``user_uuid``) or a logout (None) is under way; it replaces
        the change recorded before."""
        ...

    async def end_change(self, mac: str, change_uuid: str) -> None:
        """Record that this change is over. Does nothing if another one is recorded."""
        ...

    async def use(self, mac: str, use: DeskUse, now: str) -> None:
        """From now on ``use`` says who uses the phone. Begins the next turn; a logout that was
        due is done. The users named need not exist."""
        ...

    async def user_of(self, mac: str) -> str | None:
        """The uuid of the user that uses the phone, or None. It may not exist any more."""
        ...

    async def end_user(self, user_uuid: str) -> int:
        """End the use of every phone by the user; a logout is due there. Returns the number of
        phones."""
        ...

    async def is_elsewhere(self, user_uuid: str, mac: str) -> bool:
        """Whether the user uses another phone than this one, or is just logging in there."""
        ...

    async def end_elsewhere(self, user_uuid: str, mac: str) -> int:
        """End the use of every other phone by the user; a logout is due there. Returns the
        number of phones."""
        ...


class DeploymentsTransaction(ProfilesTransaction, Protocol):
    """What a deployment reads and is recorded in."""

    @property
    def users(self) -> Store[User]: ...
    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def deployments(self) -> DeploymentStore: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def desks(self) -> DeskSessions: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> Notes: ...


class DeviceInformation(Struct, frozen=True):
    """What a phone states about itself (DeviceInformationX); None for a missing field.
    ``mac`` is canonical."""

    mac: str | None = None
    model: str | None = None
    load: str | None = None


class PhoneInformation(Protocol):
    """The information that phones give about themselves over their own web server."""

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        """Send one request. If the reply cannot be parsed, or refuses, every field is None.

        Raises ``TimedOut`` if the reply is not complete within ``seconds``, ``Refused`` if
        there is none, ``Conflict`` if the address is not allowed to be called.
        """
        ...


class Watching(Protocol):
    """A watch of one phone, since ``PhoneWatch.begin``."""

    async def returned(self, seconds: float) -> str:
        """Wait until the phone was seen to come back; a sentence that says what was seen.

        Only what happens after ``begin`` counts, and only a phone that was away can come
        back. Raises ``TimedOut`` if it was not seen within ``seconds``, ``Refused`` if it
        cannot be seen any more or another phone answers in its place; the message says what
        was seen instead.
        """
        ...

    async def close(self) -> None:
        """Stop watching; to be called exactly once."""
        ...


class PhoneWatch(Protocol):
    """A way to see phones come back."""

    async def begin(self, phone: Phone) -> Watching:
        """Watch from now on: to be called before the phone is restarted. ``software_type`` of
        the phone decides which events are its own.

        Returns within 5 seconds. Raises ``Refused``, ``TimedOut`` or ``Conflict`` if the
        phone cannot be watched in this way.
        """
        ...


class Reach(Struct, frozen=True):
    """Whether something can be reached, None if unknown; what was found, and the duration."""

    reachable: bool | None
    message: Annotated[str, schema(description="What answered, or why there was no answer")]
    duration_ms: Annotated[int, schema(minimum=0)]


class Reachability(Protocol):
    """Whether server and phone can be reached, without changing anything."""

    async def server(self, phone_ip: str | None) -> Reach:
        """Log in on the server that the configuration would be uploaded to, and log off. Always
        returns within 3 seconds and does not raise."""
        ...

    async def phone(self, phone: Phone) -> Reach:
        """Read the MAC from the phone's own web server. Another phone at its address counts as
        not reachable. Always returns within 3 seconds and does not raise."""
        ...


Unbroken = Callable[[Awaitable[T]], Awaitable[T]]
"""Port: run to the end, also when whoever awaits is cancelled or gone. The result or the
error goes to whoever still waits. A shutdown waits for what runs."""

Background = Callable[[Awaitable[None]], None]
"""Port: run apart from whoever asks for it. A shutdown ends it at once."""

Journal = Callable[[Deployment], None]
"""Port: told of each deployment when it has ended, and again when its confirmation is known."""
