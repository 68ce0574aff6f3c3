"""The schema of version 0.2.0.

A new database is made from the tables, with the newest revision, so that this revision never runs:
it is where later ones begin. ``0001`` to ``0015`` were the revisions of unreleased versions.
"""

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: see above."""
