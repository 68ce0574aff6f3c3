"""The contracts of ``LoginAddressStore`` and ``RateStore``."""

import asyncio

import pytest

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import Rate
from phoneprov_core.people.auth.model import Familiarity
from phoneprov_core.people.throttle import RECENT
from support.records import a_mac, a_user, identifier
from support.store_tests import DatabaseTests

ADA, BOB = identifier(1), identifier(2)
HOME, WORK = "192.0.2.1", "2001:db8:1:2::/64"
NOW = 1_700_000_000_000


class TestLoginAddresses(DatabaseTests):
    """The contract of ``LoginAddressStore``."""

    async def _familiar(
        self, username: str, address: str, since: int = NOW - RECENT
    ) -> tuple[bool, bool, bool]:
        async with self.database.read() as tx:
            found: Familiarity = await tx.login_addresses.familiarity(username, address, since)
        return found.account, found.address, found.both

    async def _remember(self, user: str, address: str, now: int = NOW) -> None:
        await self.write(lambda tx: tx.login_addresses.remember(user, address, now))

    async def arrange(self) -> None:
        await self.add(a_user(1, username="Ada"), a_user(2, username="bob"))

    async def test_login_address_makes_account_and_address_familiar(self) -> None:
        assert await self._familiar("ada", HOME) == (False, False, False)
        await self._remember(ADA, HOME)

        assert await self._familiar("aDA", HOME) == (True, True, True)
        assert await self._familiar("ada", WORK) == (True, False, False)
        assert await self._familiar("bob", HOME) == (False, True, False)
        assert await self._familiar("unknown", HOME) == (False, True, False)

    @pytest.mark.parametrize("name", ["", "\0", "ada\0", "x" * 10_000])
    async def test_login_address_name_of_no_account_is_unknown(self, name: str) -> None:
        await self._remember(ADA, HOME)

        assert await self._familiar(name, HOME) == (False, True, False)
        async with self.database.read() as tx:
            assert await tx.users.by_username(name) is None
            assert await tx.users.with_password(name) is None

    async def test_login_address_counts_since_a_moment(self) -> None:
        await self._remember(ADA, HOME)

        assert await self._familiar("ada", HOME, NOW - 1) == (True, True, True)
        assert await self._familiar("ada", HOME, NOW) == (False, False, False)
        await self._remember(ADA, HOME, NOW + 1)
        assert await self._familiar("ada", HOME, NOW) == (True, True, True)

    async def test_login_address_not_recent_is_forgotten(self) -> None:
        await self._remember(ADA, HOME, NOW - RECENT)
        await self._remember(BOB, HOME, NOW - RECENT)
        await self._remember(ADA, WORK)

        assert await self._familiar("ada", HOME, 0) == (True, True, False)
        assert await self._familiar("bob", HOME, 0) == (True, True, True)
        await self.write(lambda tx: tx.users.remove(BOB))
        assert await self._familiar("bob", HOME, 0) == (False, False, False)
        with pytest.raises(NotFound):
            await self._remember(BOB, HOME)


RATE = Rate(3, 60_000)


class TestRates(DatabaseTests):
    """The contract of ``RateStore``."""

    async def _add(
        self,
        now: int = NOW,
        *,
        subject: str = "a",
        rate: Rate = RATE,
        item: str = "",
        force: bool = False,
    ) -> int:
        return await self.write(lambda tx: tx.rates.add(subject, rate, now, item=item, force=force))

    async def test_rate_counts_up_to_the_limit_and_says_how_long_to_wait(self) -> None:
        assert [await self._add(NOW + n) for n in range(3)] == [0, 0, 0]

        assert await self._add(NOW + 10) == 59_990
        assert await self._add(NOW + 59_999) == 1
        assert await self._add(NOW + 59_999, subject="b") == 0
        # The window begins with the first event, and then anew.
        assert [await self._add(NOW + 60_000) for _ in range(4)] == [0, 0, 0, 60_000]
        assert {await self._add(rate=Rate(0, 60_000), subject="c") for _ in range(5)} == {0}

    async def test_rate_event_refused_taken_back_or_rolled_back_is_not_counted(self) -> None:
        await self.write(lambda tx: tx.rates.take_back("a"))
        for _ in range(5):
            async with self.rolled_back() as tx:
                await tx.rates.add("a", RATE, NOW)
        assert [await self._add() for _ in range(5)] == [0, 0, 0, 60_000, 60_000]
        await self.write(lambda tx: tx.rates.take_back("a"))
        assert [await self._add(), await self._add()] == [0, 60_000]
        assert await self._add(force=True) == 0
        await self.write(lambda tx: tx.rates.take_back("a"))
        assert await self._add() == 60_000
        for _ in range(5):
            await self.write(lambda tx: tx.rates.take_back("a"))

        assert [await self._add() for _ in range(4)] == [0, 0, 0, 60_000]

    async def test_rate_item_counts_once_a_window(self) -> None:
        items = [f"{a_mac(number)}," for number in range(1, 5)]
        for item in items[:3]:
            assert await self._add(item=item) == 0

        assert [await self._add(item=item) for item in items] == [0, 0, 0, 60_000]
        # In the next window they count again.
        later = NOW + 60_000
        answers = [await self._add(later, item=item) for item in items]
        assert answers == [0, 0, 0, 60_000]

    async def test_rate_clock_set_back_ends_the_window(self) -> None:
        for _ in range(3):
            await self._add()

        assert await self._add(NOW - 30_000) == 60_000
        assert await self._add(NOW - 3_600_000) == 0

    async def test_rate_concurrent_callers_are_counted_exactly(self) -> None:
        answers = await asyncio.gather(*(self._add() for _ in range(30)))

        assert answers.count(0) == 3
