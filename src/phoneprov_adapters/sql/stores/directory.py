"""Contacts in SQL."""

from functools import cache

import msgspec
from sqlalchemy import bindparam, delete, exists, func, insert, select, tuple_

from phoneprov_adapters.sql.engines.statements import Statement, json_items
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables.directory import company_contacts, contact_terms
from phoneprov_core.directory.model import CONTACT_FIELDS, CompanyContact
from phoneprov_core.directory.ports import CompanyContactStore
from phoneprov_core.directory.terms import LAST, FoundContact, TermSearch, terms_of

_COLUMNS = [company_contacts.c[name] for name in FoundContact.__struct_fields__]
_FORGET_TERMS = delete(contact_terms).where(
    contact_terms.c.contact_uuid == bindparam("contact_uuid")
)
_ITEMS = json_items(bindparam("terms", type_=contact_terms.c.term.type)).table_valued("value")
_ADD_TERMS = insert(contact_terms).from_select(
    ["term", "contact_uuid"],
    select(_ITEMS.c.value, bindparam("contact_uuid", type_=contact_terms.c.contact_uuid.type)),
)
_FIRST_TERM = select(func.min(contact_terms.c.term)).where(
    contact_terms.c.contact_uuid == bindparam("contact_uuid"),
    contact_terms.c.term >= bindparam("low"),
    contact_terms.c.term < bindparam("high"),
)


@cache
def _search(others: int, *, after: bool, once: bool) -> Statement:
    """Contacts with a term in the first range, by that term, and a term in each other one.
    ``once``: a contact has one term at most in the first range."""
    found, earlier = contact_terms, contact_terms.alias("earlier")
    matches = select(found.c.term, found.c.contact_uuid).where(
        found.c.term >= bindparam("low0"),
        found.c.term < bindparam("high0"),
    )
    if not once:
        matches = matches.where(
            ~exists().where(
                earlier.c.contact_uuid == found.c.contact_uuid,
                earlier.c.term >= bindparam("low0"),
                earlier.c.term < found.c.term,
            )
        )
    for number in range(1, others + 1):
        other = contact_terms.alias(f"other{number}")
        matches = matches.where(
            exists().where(
                other.c.contact_uuid == found.c.contact_uuid,
                other.c.term >= bindparam(f"low{number}"),
                other.c.term < bindparam(f"high{number}"),
            )
        )
    if after:
        last = tuple_(bindparam("after_term"), bindparam("after_key"))
        matches = matches.where(tuple_(found.c.term, found.c.contact_uuid) > last)
    # The limit stands inside, so that only the contacts of the page are read.
    of_page = (
        matches.order_by(found.c.term, found.c.contact_uuid)
        .limit(bindparam("limit"))
        .subquery("of_page")
    )
    return (
        select(*_COLUMNS)
        .select_from(
            of_page.join(company_contacts, company_contacts.c.uuid == of_page.c.contact_uuid)
        )
        .order_by(of_page.c.term, of_page.c.contact_uuid)
    )


class SqlCompanyContacts(SqlSearchedStore[CompanyContact], CompanyContactStore):
    """Contacts of the company, by uuid; their terms lie beside them."""

    records = Records(
        CompanyContact, company_contacts, one_name="company contact", search=CONTACT_FIELDS
    )

    async def add(self, entity: CompanyContact) -> None:
        await super().add(entity)
        await self._add_terms(entity)

    async def put(self, entity: CompanyContact) -> None:
        await super().put(entity)
        await self._connection.soon(_FORGET_TERMS, contact_uuid=entity.uuid)
        await self._add_terms(entity)

    async def search(
        self, search: TermSearch, limit: int, *, after: str | None = None
    ) -> list[FoundContact]:
        values: dict[str, object] = {"limit": limit}
        for number, prefix in enumerate(search.prefixes):
            values |= {f"low{number}": prefix, f"high{number}": prefix + LAST}
        if after is not None:
            row = await self._connection.row(
                _FIRST_TERM, contact_uuid=after, low=values["low0"], high=values["high0"]
            )
            if row is None or row[0] is None:
                return []
            values |= {"after_term": row[0], "after_key": after}
        others = len(search.prefixes) - 1
        statement = _search(others, after=after is not None, once=search.is_everyone)
        # With one prefix, about as many rows are read as are found.
        read = self._connection.rows if others else self._connection.few
        return [FoundContact(*row) for row in await read(statement, **values)]

    async def _add_terms(self, contact: CompanyContact) -> None:
        if terms := sorted(terms_of(contact)):
            await self._connection.soon(
                _ADD_TERMS, terms=msgspec.json.encode(terms).decode(), contact_uuid=contact.uuid
            )
