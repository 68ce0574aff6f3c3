"""The contract of ``ServiceSessions``."""

from __future__ import annotations

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import a_mac, a_user, identifier, moment
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.stores import Database

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
ADA, BOB = identifier(31), identifier(32)
NOW = moment(50)


@pytest.mark.asyncio
class ServiceSessionsContract:
    """The contract of ``ServiceSessions``."""

    @pytest_asyncio.fixture(autouse=True)
    async def people(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(31))
            await tx.users.add(a_user(32))

    async def test_a_phone_s_services_act_for_one_user(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.service_sessions.open(PHONE, ADA, NOW)
            assert await tx.service_sessions.user_of(PHONE) == ADA
            await tx.service_sessions.open(OTHER_PHONE, ADA, NOW)
            await tx.service_sessions.open(PHONE, BOB, NOW)

        async with database.read() as tx:
            assert await tx.service_sessions.user_of(PHONE) == BOB
            assert await tx.service_sessions.user_of(OTHER_PHONE) == ADA
            assert await tx.service_sessions.user_of(a_mac(3)) is None

    async def test_a_service_session_is_dropped_once(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.service_sessions.open(PHONE, ADA, NOW)
            await tx.service_sessions.open(OTHER_PHONE, BOB, NOW)
        async with database.write() as tx:
            assert await tx.service_sessions.drop(PHONE)
            assert not await tx.service_sessions.drop(PHONE)

        async with database.read() as tx:
            assert await tx.service_sessions.user_of(PHONE) is None
            assert await tx.service_sessions.user_of(OTHER_PHONE) == BOB

    async def test_services_act_for_users_that_exist(self, database: Database) -> None:
        with pytest.raises(NotFound):
            async with database.write() as tx:
                await tx.service_sessions.open(PHONE, identifier(99), NOW)

        async with database.read() as tx:
            assert await tx.service_sessions.user_of(PHONE) is None
