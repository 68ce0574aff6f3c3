"""Contacts are found by two words of their names at once."""

import sqlalchemy as sa
from alembic import op

from phoneprov_core.directory.model import CompanyContact
from phoneprov_core.directory.terms import terms_of

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_PIECE = 1000
_PAIR, _AFTER_PAIRS = "p", "q"
"""Terms of pairs begin with the first of these and sort before the second."""

_terms = sa.table("contact_terms", sa.column("term"), sa.column("contact_uuid"))
_contacts = sa.table("company_contacts", *map(sa.column, CompanyContact.__struct_fields__))


def upgrade() -> None:
    _remove_pairs()  # an earlier migration may have written them
    bind, last = op.get_bind(), ""
    while True:
        found = bind.execute(
            sa.select(*[_contacts.c[name] for name in CompanyContact.__struct_fields__])
            .where(_contacts.c.uuid > last)
            .order_by(_contacts.c.uuid)
            .limit(_PIECE)
        ).all()
        rows = [
            {"term": term, "contact_uuid": row.uuid}
            for row in found
            for term in terms_of(CompanyContact(*row))
            if term.startswith(_PAIR)
        ]
        if rows:
            op.bulk_insert(_terms, rows)
        if len(found) < _PIECE:
            return
        last = found[-1].uuid


def downgrade() -> None:
    _remove_pairs()


def _remove_pairs() -> None:
    op.execute(_terms.delete().where(_terms.c.term >= _PAIR, _terms.c.term < _AFTER_PAIRS))
