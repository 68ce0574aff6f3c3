"""Who is asking, and from where."""

from __future__ import annotations

from msgspec import Struct

from phoneprov_core.kernel.levels import SUPERADMIN, LevelRule

SYSTEM = "00000000-0000-0000-0000-000000000000"
"""The ``user_uuid`` of whoever acts without an account; no account ever has it."""


class Actor(Struct, frozen=True):
    """The account behind a request, as it stands at this moment.

    ``level`` is the level of its permission assignment, None without one. ``ip`` is the
    address the request came from, kept in records as ``created_ip`` and the like.
    ``session_uuid`` is None for a caller without a session, such as a script. ``username``
    is kept in audit entries; None where it is not known.
    """

    user_uuid: str
    level: int | None
    ip: str = "127.0.0.1"
    session_uuid: str | None = None
    level_rule: LevelRule = LevelRule.HIERARCHICAL
    username: str | None = None

    def holds(self, level: int) -> bool:
        """Whether the account's assignment carries this level."""
        return self.level_rule.holds(self.level, level)


def system_actor(level_rule: LevelRule) -> Actor:
    """The person at the machine, who holds level 0 and has no account: for scripts and for the
    command line. What they do is recorded as done by ``SYSTEM``, from 127.0.0.1.

    ``level_rule`` must be the one that the service is set up with, for it decides whether
    somebody who holds level 0 is left.
    """
    return Actor(SYSTEM, SUPERADMIN, level_rule=level_rule, username="system")


SYSTEM_ACTOR = Actor(SYSTEM, SUPERADMIN, username="system")
"""The service itself, in background work and in commands that have no account."""


def anonymous(ip: str) -> Actor:
    """A client that has not proven an identity, such as one that guesses a password."""
    return Actor("", None, ip)
