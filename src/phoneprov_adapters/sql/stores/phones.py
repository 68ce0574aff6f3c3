"""Phones in SQL."""

from __future__ import annotations

from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import phones
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.search import PHONE_FIELDS


class SqlPhones(SqlSearchedStore[Phone]):
    """Phones, by MAC."""

    records = Records(Phone, phones, key="mac", one_name="phone", search=PHONE_FIELDS)
