"""Where deployments are recorded, and how a phone is kept to one switch at a time."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.deployments.model import Deployment, Wanted
from phoneprov_core.kernel.store import Store
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.ports import ProfilesTransaction


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


class Deployments(Protocol):
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
        """What was on the phone before, as far as it was another configuration: of those with a
        place and a smaller number the one with the largest number whose hash differs."""
        ...

    async def interrupt_abandoned(self, now: str) -> int:
        """Mark as interrupted, at ``now``, every running deployment that does not hold its
        phone's lease any more: it is gone, over, or another's. Answers how many."""
        ...


class Leases(Protocol):
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


class ServiceSessions(Protocol):
    """Whose services a phone shows: the session kept here for its MAC."""

    async def open(self, mac: str, user_uuid: str, now: str) -> None:
        """From now on the phone's services act for this user. Raises ``NotFound`` when the
        user is gone."""
        ...

    async def user_of(self, mac: str) -> str | None:
        """The user the phone's services act for, or None."""
        ...

    async def drop(self, mac: str) -> bool:
        """Whether there was a session."""
        ...


class DeploymentsTransaction(ProfilesTransaction, Protocol):
    """What a deployment reads and is recorded in."""

    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def deployments(self) -> Deployments: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def service_sessions(self) -> ServiceSessions: ...
