"""A clock that is set back does not prolong locks."""

from typing import Any

import pytest
from sqlalchemy import update

from phoneprov_adapters.sql.engines.statements import now_ms
from phoneprov_adapters.sql.tables.switching import leases
from support.records import a_mac

_HOUR = 3_600_000


@pytest.mark.parametrize("ahead", [30_000, _HOUR])
async def test_lease_end_far_ahead_is_over(database: Any, ahead: int) -> None:
    mac = a_mac(1)
    async with database.write() as tx:
        await tx.leases.take(mac, "me", 60)
    async with database.write() as tx:
        await tx.leases._connection.fetch_all(
            update(leases).values(expires_at=now_ms() + ahead).returning(leases.c.mac)
        )

    async with database.write() as tx:
        held = ahead < _HOUR
        assert await tx.leases.holder(mac) == ("me" if held else None)
        assert (await tx.leases.take(mac, "you", 60) is None) is held
