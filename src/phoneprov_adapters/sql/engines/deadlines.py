"""How long anything may take that a PostgreSQL database is asked for."""

from __future__ import annotations

from msgspec import Struct


class Deadlines(Struct, frozen=True):
    """All in seconds.

    ``statement`` is the server's for each statement, waiting for others' locks included; the
    server then says so. ``answer`` is ours for its answer: when not even that comes, the
    network or the server is gone. ``total`` is for one question that is read, or for writing
    as a whole, save for the answer whether a change was kept. ``wait`` is for a connection to
    become free, ``connect`` for a new one, ``rollback`` for taking back.
    """

    connect: float = 3.0
    wait: float = 3.0
    statement: float = 4.0
    answer: float = 5.0
    total: float = 10.0
    rollback: float = 2.0

    def settings(self) -> dict[str, str]:
        """The server's part of it. A host that vanishes in the middle of a transaction locks
        others out no longer than it could have taken."""
        return {
            "statement_timeout": f"{self.statement * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{(self.total + self.answer) * 1000:.0f}",
        }
