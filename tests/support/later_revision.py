"""A revision after the newest one, with each kind of change, for the tests of upgrades."""

import sqlalchemy as sa
from alembic import op

revision = "0999"
down_revision = "0100"
branch_labels = None
depends_on = None

text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    rooms = op.create_table(
        "rooms",
        sa.Column("name", text, primary_key=True),
        sa.Column("mac", sa.String(17), nullable=False),
    )
    op.execute("INSERT INTO rooms (name, mac) SELECT 'Room of ' || mac, mac FROM phones")
    op.bulk_insert(rooms, [{"name": "Lobby", "mac": "none"}])
    op.add_column("phones", sa.Column("room", sa.Text))
    op.execute("UPDATE phones SET room = 'Room of ' || mac, search = 'stale'")
    op.create_index("ix_phones_room", "phones", ["room"])
    # Accounts are replaced by a copy on SQLite; many records refer to them.
    with op.batch_alter_table("users") as batch:
        batch.add_column(sa.Column("floor", sa.Integer, nullable=False, server_default="1"))
        batch.alter_column("timezone", new_column_name="zone")
    op.drop_index("ix_fetches_created_at_uuid", "fetches", if_exists=True)
    op.execute("DELETE FROM contact_terms")
