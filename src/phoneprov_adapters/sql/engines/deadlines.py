"""Deadlines of calls to PostgreSQL."""

from msgspec import Struct


class Deadlines(Struct, frozen=True):
    """All in seconds.

    ``statement`` is the server's timeout for each statement, including waiting for locks; the
    server then reports an error. ``answer`` is the client's timeout for a response: without one the
    network or the server has failed. ``total`` bounds one read query, or a writing transaction
    except its commit. ``wait`` bounds waiting for a free connection, ``connect`` a new connection,
    ``rollback`` a rollback.
    """

    connect: float = 3.0
    wait: float = 3.0
    statement: float = 4.0
    answer: float = 5.0
    total: float = 10.0
    rollback: float = 2.0

    def settings(self) -> dict[str, str]:
        """The timeouts that the server enforces. If a host disappears during a transaction, its
        locks last no longer than the transaction could have taken."""
        return {
            "statement_timeout": f"{self.statement * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{(self.total + self.answer) * 1000:.0f}",
        }
