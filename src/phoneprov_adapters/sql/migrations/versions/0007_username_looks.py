"""What usernames look like. Accounts that look alike already keep their names: the older one
claims the look."""

import sqlalchemy as sa
from alembic import op

from phoneprov_adapters.security.lookalikes import looks

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    user_uuid = sa.String(36).with_variant(sa.String(36, collation="C"), "postgresql")
    look = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    table = op.create_table(
        "username_looks",
        sa.Column("look", look, nullable=False),
        sa.Column("user_uuid", user_uuid, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_username_looks_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("look", name=op.f("pk_username_looks")),
    )
    op.create_index(op.f("ix_username_looks_user_uuid"), "username_looks", ["user_uuid"])

    users = sa.table("users", sa.column("uuid"), sa.column("username"), sa.column("created_at"))
    query = sa.select(users.c.uuid, users.c.username).order_by(users.c.created_at, users.c.uuid)
    claimed: dict[str, str] = {}
    for uuid, username in op.get_bind().execute(query):
        for one in looks(username):
            claimed.setdefault(one, uuid)
    rows = [{"look": one, "user_uuid": uuid} for one, uuid in claimed.items()]
    if rows:
        op.bulk_insert(table, rows)


def downgrade() -> None:
    op.drop_table("username_looks")
