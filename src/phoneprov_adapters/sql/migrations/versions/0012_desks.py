"""Desks take the place of service sessions; contacts can be searched."""

import sqlalchemy as sa
from alembic import op

from phoneprov_core.directory.model import CompanyContact
from phoneprov_core.directory.terms import terms_of

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_PIECE = 1000


def _string(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    desks = op.create_table(
        "desks",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("default_profile_uuid", _string(36)),
        sa.Column("hotdesk", sa.Boolean(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("user_uuid", _string(36)),
        sa.Column("profile_uuid", _string(36)),
        sa.Column("since", _string(24)),
        sa.Column("until", _string(24)),
        sa.Column("due", _string(16)),
        sa.Column("change_uuid", _string(36)),
        sa.Column("change_user_uuid", _string(36)),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_desks")),
    )
    for column in ("user_uuid", "change_user_uuid", "until", "due", "change_uuid"):
        op.create_index(op.f(f"ix_desks_{column}"), "desks", [column])
    sessions = sa.table(
        "service_sessions", sa.column("mac"), sa.column("user_uuid"), sa.column("opened_at")
    )
    op.execute(
        desks.insert().from_select(
            ["mac", "hotdesk", "turn", "user_uuid", "since", "not_before"],
            sa.select(
                sessions.c.mac,
                sa.true(),
                sa.literal(1),
                sessions.c.user_uuid,
                sessions.c.opened_at,
                sa.literal(0),
            ),
        )
    )
    op.drop_table("service_sessions")
    _add_terms()


def _add_terms() -> None:
    term = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    terms = op.create_table(
        "contact_terms",
        sa.Column("term", term, nullable=False),
        sa.Column("contact_uuid", _string(36), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_uuid"],
            ["company_contacts.uuid"],
            name=op.f("fk_contact_terms_contact_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("term", "contact_uuid", name=op.f("pk_contact_terms")),
    )
    op.create_index(
        op.f("ix_contact_terms_contact_uuid_term"), "contact_terms", ["contact_uuid", "term"]
    )
    names = CompanyContact.__struct_fields__
    contacts = sa.table("company_contacts", *map(sa.column, names))
    bind, last = op.get_bind(), ""
    while True:
        found = bind.execute(
            sa.select(*[contacts.c[name] for name in names])
            .where(contacts.c.uuid > last)
            .order_by(contacts.c.uuid)
            .limit(_PIECE)
        ).all()
        rows = [
            {"term": one, "contact_uuid": row.uuid}
            for row in found
            for one in terms_of(CompanyContact(*row))
        ]
        if rows:
            op.bulk_insert(terms, rows)
        if len(found) < _PIECE:
            return
        last = found[-1].uuid


def downgrade() -> None:
    op.drop_table("contact_terms")
    sessions = op.create_table(
        "service_sessions",
        sa.Column("mac", _string(17), nullable=False),
        sa.Column("user_uuid", _string(36), nullable=False),
        sa.Column("opened_at", _string(24), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_uuid"],
            ["users.uuid"],
            name=op.f("fk_service_sessions_user_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("mac", name=op.f("pk_service_sessions")),
    )
    op.create_index(op.f("ix_service_sessions_user_uuid"), "service_sessions", ["user_uuid"])
    desks = sa.table("desks", sa.column("mac"), sa.column("user_uuid"), sa.column("since"))
    users = sa.table("users", sa.column("uuid"))
    op.execute(
        sessions.insert().from_select(
            ["mac", "user_uuid", "opened_at"],
            sa.select(desks.c.mac, desks.c.user_uuid, desks.c.since).where(
                desks.c.user_uuid.in_(sa.select(users.c.uuid))
            ),
        )
    )
    op.drop_table("desks")
