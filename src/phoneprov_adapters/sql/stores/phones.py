"""Phones in SQL."""

from __future__ import annotations

from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import phones
from phoneprov_core.phones.model import Phone


class SqlPhones(SqlStore[Phone]):
    """Phones, by MAC."""

    records = Records(Phone, phones, key="mac", one_name="phone")
