"""The text that lists are searched by: a column of users, extensions, phones, company contacts and
profiles, filled for the existing rows.

On SQLite the index of each list holds that text and the filters, too.
"""

from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

from phoneprov_core.kernel.search import SearchFields

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PIECE = 1000


class _List(NamedTuple):
    table: str
    key: str
    fields: SearchFields
    filters: tuple[str, ...]


_LISTS = (
    _List(
        "users",
        "uuid",
        SearchFields(("first_name", "last_name", "username", "email"), ("phone",)),
        ("lang", "location", "nationality", "timezone", "is_active"),
    ),
    _List(
        "extensions",
        "uuid",
        SearchFields(("name",), ("extension",)),
        ("type", "voicemail", "is_active"),
    ),
    _List(
        "phones",
        "mac",
        SearchFields(("name", "hostname", "phone_ip"), ("mac",)),
        (
            "brand",
            "model",
            "location",
            "phone_vlan",
            "software_version",
            "software_type",
            "is_active",
        ),
    ),
    _List(
        "company_contacts",
        "uuid",
        SearchFields(("name", "email"), ("work", "mobile", "home")),
        ("department", "company", "location", "building", "is_active"),
    ),
    _List("profiles", "uuid", SearchFields(("name",)), ("user_uuid", "software_type")),
)


def upgrade() -> None:
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    for one in _LISTS:
        op.add_column(one.table, sa.Column("search", text, nullable=False, server_default=""))
        _fill(one)
        if op.get_bind().dialect.name == "sqlite":
            op.drop_index(op.f(f"ix_{one.table}_created_at_{one.key}"), table_name=one.table)
            op.create_index(
                f"ix_{one.table}_listed", one.table, ["created_at", one.key, "search", *one.filters]
            )


def _fill(one: _List) -> None:
    columns = {one.key, *one.fields.texts, *one.fields.numbers}
    table = sa.table(one.table, sa.column("search"), *(sa.column(name) for name in columns))
    key = table.c[one.key]
    piece = (
        sa.select(*(table.c[name] for name in columns))
        .where(key > sa.bindparam("after"))
        .order_by(key)
        .limit(_PIECE)
    )
    fill = sa.update(table).where(key == sa.bindparam("the_key")).values(search=sa.bindparam("it"))
    bind = op.get_bind()
    after = ""
    while rows := bind.execute(piece, {"after": after}).all():
        values = [{"the_key": getattr(row, one.key), "it": one.fields.text(row)} for row in rows]
        bind.execute(fill, values)
        after = values[-1]["the_key"]


def downgrade() -> None:
    for one in reversed(_LISTS):
        if op.get_bind().dialect.name == "sqlite":
            op.drop_index(f"ix_{one.table}_listed", table_name=one.table)
            op.create_index(
                op.f(f"ix_{one.table}_created_at_{one.key}"), one.table, ["created_at", one.key]
            )
        op.drop_column(one.table, "search")
