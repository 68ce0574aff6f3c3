"""Limits: failed logins in a row, addresses of logins, events in a window of time."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    # The default is for existing rows: their failures are the least number in a row.
    for name in ("in_a_row", "known"):
        op.add_column(
            "login_attempts", sa.Column(name, sa.Integer(), nullable=False, server_default="0")
        )
    op.execute("update login_attempts set in_a_row = failures")

    op.create_table(
        "login_addresses",
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("address", _string(45), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_login_addresses_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_uuid", "address", name=op.f("pk_login_addresses")),
    )
    op.create_index(
        op.f("ix_login_addresses_address_last_at"), "login_addresses", ["address", "last_at"]
    )

    op.create_table(
        "rates",
        sa.Column("subject", _string(100), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("items", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_rates")),
    )
    op.create_index(op.f("ix_rates_first_at"), "rates", ["first_at"])


def downgrade() -> None:
    op.drop_table("rates")
    op.drop_table("login_addresses")
    with op.batch_alter_table("login_attempts") as table:
        table.drop_column("known")
        table.drop_column("in_a_row")
