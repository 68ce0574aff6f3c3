"""The statements that read phones with all their records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.inventory.phone_parts import SqlEnrichedPhones
from support.phone_records import a_flag, a_kem, a_phone
from support.records import a_mac
from support.stores import DATABASES


async def test_listing_piece_is_one_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Statement] = []
    async with DATABASES["sqlite"](tmp_path) as database:
        async with database.write() as tx:
            for number in (1, 2):
                await tx.phones.add(a_phone(number))
                await tx.kems.add(a_kem(number, connected_phone=a_mac(number)))
                await tx.vendor_phones.add(a_flag(number))
        async with database.read() as tx:
            assert isinstance(tx.enriched_phones, SqlEnrichedPhones)
            connection = tx.enriched_phones._connection
            ask = connection.fetch_all

            async def counted(statement: Statement, **values: Any) -> Sequence[Row]:
                asked.append(statement)
                return await ask(statement, **values)

            monkeypatch.setattr(connection, "fetch_all", counted)
            phones = await tx.enriched_phones.rows(1000)

    assert [len(phone.key_expansion_modules) for phone in phones] == [1, 1]
    assert all(phone.vendor for phone in phones)
    assert len(asked) == 1
