"""Where deployments are recorded, and how a phone is kept to one switch at a time."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.deployments.model import Deployment


class Deployments(Protocol):
    """The record of deployments, by uuid."""

    async def add(self, deployment: Deployment) -> None:
        """Keep a new record. What it names need not exist, now or later."""
        ...

    async def find(self, key: str) -> Deployment | None:
        """The deployment, or None."""
        ...

    async def put(self, deployment: Deployment) -> None:
        """Write a record that was added."""
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
