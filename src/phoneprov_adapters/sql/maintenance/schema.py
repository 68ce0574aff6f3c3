"""The schema of a new database, and values that are derived from others."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Table,
    bindparam,
    create_mock_engine,
    delete,
    insert,
    select,
    tuple_,
    update,
)

from phoneprov_adapters.sql.engines.revisions import revision_table
from phoneprov_adapters.sql.stores.inventory.extensions import SqlExtensions
from phoneprov_adapters.sql.stores.inventory.phones import SqlPhones
from phoneprov_adapters.sql.stores.inventory.profiles import SqlProfiles
from phoneprov_adapters.sql.stores.people.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.people.users import SqlUsers
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.people import company_contacts, contact_terms
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.people.directory.model import CompanyContact, terms_of

_SEARCHED: tuple[Records[Any], ...] = tuple(
    store.records for store in (SqlUsers, SqlExtensions, SqlPhones, SqlCompanyContacts, SqlProfiles)
)
_PIECE = 1000
_CONTACT = CompanyContact.__struct_fields__
_UUID, _TERM = contact_terms.c.contact_uuid, contact_terms.c.term
_PAIR: tuple[BindParameter[str], ...] = (bindparam("uuid"), bindparam("word"))
_REMOVE_TERM = delete(contact_terms).where(tuple_(_UUID, _TERM) == tuple_(*_PAIR))
_ADD_TERM = insert(contact_terms).values(contact_uuid=_PAIR[0], term=_PAIR[1])


def derive(connection: Connection) -> None:
    """Write search texts and terms again that this version would write differently."""
    for records in _SEARCHED:
        _derive_texts(connection, records)
    for rows in _pieces(connection, company_contacts, "uuid", _CONTACT):
        needed = {(row.uuid, term) for row in rows for term in terms_of(CompanyContact(*row))}
        stored = select(_UUID, _TERM).where(_UUID.in_([row.uuid for row in rows]))
        found = {(row[0], row[1]) for row in connection.execute(stored)}
        for change, pairs in ((_REMOVE_TERM, found - needed), (_ADD_TERM, needed - found)):
            if pairs:
                connection.execute(change, [{"uuid": uuid, "word": term} for uuid, term in pairs])


def _derive_texts(connection: Connection, records: Records[Any]) -> None:
    table, fields = records.table, records.search
    assert fields is not None
    key = table.c[records.key]
    change = update(table).where(key == bindparam("it")).values(search=bindparam("text"))
    names = ("search", *fields.texts, *fields.numbers)
    for rows in _pieces(connection, table, records.key, names):
        texts = [{"it": getattr(row, records.key), "text": fields.text(row)} for row in rows]
        differing = [
            text for text, row in zip(texts, rows, strict=True) if text["text"] != row.search
        ]
        if differing:
            connection.execute(change, differing)


def _pieces(
    connection: Connection, table: Table, key: str, names: Sequence[str]
) -> Iterator[Sequence[Any]]:
    columns = [table.c[name] for name in dict.fromkeys((*names, key))]
    statement = select(*columns).order_by(table.c[key]).limit(_PIECE)
    rows = connection.execute(statement).all()
    while rows:
        yield rows
        last = getattr(rows[-1], key)
        rows = connection.execute(statement.where(table.c[key] > last)).all()


def statements_of(dialect: str) -> list[str]:
    """The statements that create all tables and indexes of the newest schema."""
    statements: list[Any] = []
    engine = create_mock_engine(f"{dialect}://", lambda one, *_: statements.append(one))
    metadata.create_all(engine, checkfirst=False)
    revision_table.create(engine, checkfirst=False)
    return [str(one.compile(dialect=engine.dialect)) for one in statements]
