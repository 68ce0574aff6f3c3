"""Contacts in SQL."""

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    tuple_,
)

from phoneprov_adapters.sql.engines.statements import Statement, json_items
from phoneprov_adapters.sql.stores.store import SqlSearchedStore
from phoneprov_adapters.sql.tables.columns import json_text
from phoneprov_adapters.sql.tables.people import (
    COMPANY_CONTACTS,
    company_contacts,
    contact_terms,
)
from phoneprov_core.people.directory.model import (
    LAST,
    NAME,
    CompanyContact,
    FoundContact,
    TermSearch,
    terms_of,
)
from phoneprov_core.people.directory.use_cases import CompanyContactStore

_COLUMNS = [company_contacts.c[name] for name in FoundContact.__struct_fields__]
_FORGET_TERMS = delete(contact_terms).where(
    contact_terms.c.contact_uuid == bindparam("contact_uuid")
)
_ITEMS = json_items(bindparam("terms", type_=contact_terms.c.term.type)).table_valued("value")
_ADD_TERMS = insert(contact_terms).from_select(
    ["term", "contact_uuid"],
    select(_ITEMS.c.value, bindparam("contact_uuid", type_=contact_terms.c.contact_uuid.type)),
)
_NAME_OF = select(contact_terms.c.term).where(
    contact_terms.c.contact_uuid == bindparam("contact_uuid"),
    contact_terms.c.term >= NAME,
    contact_terms.c.term < NAME + LAST,
)

MOST_SORTED = 5000
"""Maximum number of matches that are sorted by name. More are a good part of all contacts: then the
names are walked in order, which finds a page of them sooner."""


def _has_term(number: int, contact: ColumnElement[Any]) -> ColumnElement[bool]:
    other = contact_terms.alias(f"other{number}")
    return exists().where(
        other.c.contact_uuid == contact,
        other.c.term >= bindparam(f"low{number}"),
        other.c.term < bindparam(f"high{number}"),
    )


@cache
def _search(prefixes: int, *, after: bool, is_sorted: bool) -> Statement:
    """Contacts with a term in each range, by name, and the number of matches. ``is_sorted``: the
    matches are found by the first range and sorted; else the names are walked in order."""
    names, found = contact_terms.alias("names"), contact_terms
    walked = select(names.c.term, names.c.contact_uuid).where(
        names.c.term >= NAME, names.c.term < NAME + LAST
    )
    total: ColumnElement[Any] = literal(0)
    if is_sorted:
        matches = (
            select(found.c.contact_uuid)
            .distinct()
            .where(
                found.c.term >= bindparam("low0"),
                found.c.term < bindparam("high0"),
                *(_has_term(number, found.c.contact_uuid) for number in range(1, prefixes)),
            )
            .limit(MOST_SORTED + 1)
            .cte("matches")
        )
        total = select(func.count()).select_from(matches).scalar_subquery()
        walked = walked.join(matches, matches.c.contact_uuid == names.c.contact_uuid)
    else:
        walked = walked.where(
            *(_has_term(number, names.c.contact_uuid) for number in range(prefixes))
        )
    if after:
        last = tuple_(bindparam("after_term"), bindparam("after_key"))
        walked = walked.where(tuple_(names.c.term, names.c.contact_uuid) > last)
    # The limit is in the subquery, so that only the contacts of the page are read.
    of_page = (
        walked.order_by(names.c.term, names.c.contact_uuid)
        .limit(bindparam("limit"))
        .subquery("of_page")
    )
    return (
        select(*_COLUMNS, total)
        .select_from(
            of_page.join(company_contacts, company_contacts.c.uuid == of_page.c.contact_uuid)
        )
        .order_by(of_page.c.term, of_page.c.contact_uuid)
    )


class SqlCompanyContacts(SqlSearchedStore[CompanyContact], CompanyContactStore):
    """Contacts of the company, by uuid; their search terms are in a table of their own."""

    records = COMPANY_CONTACTS

    async def add(self, entity: CompanyContact) -> None:
        await super().add(entity)
        await self._add_terms(entity)

    async def put(self, entity: CompanyContact) -> None:
        await super().put(entity)
        await self._connection.execute(_FORGET_TERMS, contact_uuid=entity.uuid)
        await self._add_terms(entity)

    async def search(
        self, search: TermSearch, limit: int, *, after: str | None = None
    ) -> list[FoundContact]:
        values: dict[str, object] = {"limit": limit}
        if after is not None:
            row = await self._connection.fetch_one(_NAME_OF, contact_uuid=after)
            if row is None:
                return []
            values |= {"after_term": row[0], "after_key": after}
        prefixes = () if search.is_everyone else search.prefixes
        for number, prefix in enumerate(prefixes):
            values |= {f"low{number}": prefix, f"high{number}": prefix + LAST}
        statement = _search(len(prefixes), after=after is not None, is_sorted=bool(prefixes))
        rows = await self._connection.fetch_all(statement, **values)
        if rows and rows[0][-1] > MOST_SORTED:
            statement = _search(len(prefixes), after=after is not None, is_sorted=False)
            rows = await self._connection.fetch_all(statement, **values)
        return [FoundContact(*row[:-1]) for row in rows]

    async def _add_terms(self, contact: CompanyContact) -> None:
        if terms := sorted(terms_of(contact)):
            await self._connection.execute(
                _ADD_TERMS, terms=json_text(terms), contact_uuid=contact.uuid
            )
