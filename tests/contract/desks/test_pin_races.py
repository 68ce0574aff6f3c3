"""Guesses of PINs at the same time, on each database."""

import asyncio
from pathlib import Path

import pytest

from phoneprov_core.features.desks.pins import phone_key
from phoneprov_core.features.desks.records import end_uses
from phoneprov_core.kernel.actor import LevelRule, system_actor
from phoneprov_core.kernel.errors import NotFound, Unauthenticated
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.people.vendor_users import guess_key
from support.hotdesk import IP, OTHER_MAC, PIN, hotdesk
from support.switch_rig import MAC


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"])
async def test_concurrent_right_and_wrong_pins_are_counted_exactly(
    tmp_path: Path, database_kind: str
) -> None:
    """They lock the same rows: of an address, two phones and two users."""
    async with hotdesk(
        tmp_path, database_kind=database_kind, PHONEPROV_GUESSES_PER_ADDRESS="1000"
    ) as office:
        bob = await office.person("bob")
        check = office.api.container.check_pin()

        async def guess(number: int) -> bool:
            mac, name = (MAC, OTHER_MAC)[number % 2], ("ada", "bob")[number // 2 % 2]
            try:
                await check(name, PIN if number % 3 else "00000000", mac, IP)
            except Unauthenticated:
                return False
            return True

        for _ in range(3):
            right = await asyncio.gather(*(guess(number) for number in range(24)))
            assert not any(right[::3])

        async with office.api.database.write() as tx:
            counts = [
                await tx.attempts.of(key)
                for key in (
                    phone_key(MAC), phone_key(OTHER_MAC),
                    guess_key(office.ada.uuid), guess_key(bob.uuid),
                )
            ]  # fmt: skip
            assert [one.undecided for one in counts] == [0] * 4
            assert all(one.in_a_row == one.failures <= 5 for one in counts[:2])
            for key in (phone_key(MAC), phone_key(OTHER_MAC)):
                await tx.attempts.clear(key)
            await tx.attempts.clear(guess_key(bob.uuid))
        assert await guess(2)
        async with office.api.database.write() as tx:
            assert await tx.attempts.of(phone_key(MAC)) == Attempts()


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"])
async def test_change_of_the_pin_waits_for_the_deletion_of_the_user(
    tmp_path: Path, database_kind: str
) -> None:
    """Both lock the PIN before the desk."""
    async with hotdesk(tmp_path, database_kind=database_kind) as office:
        await office.log_in()
        services, held = office.api.container.phone_services(), asyncio.Event()
        at = await services.identify(f"SEP{MAC.replace(':', '')}", IP)
        token = services.change_pin.form(at)

        async def delete() -> None:
            async with office.api.database.write(by=system_actor(LevelRule.STRICT)) as tx:
                await tx.users.find(office.ada.uuid)
                await tx.users.remove(office.ada.uuid)
                held.set()
                await asyncio.sleep(0.5)
                await end_uses(tx, office.ada.uuid)

        async def change() -> None:
            await held.wait()
            await services.change_pin(at, PIN, "13579135", "13579135", token)

        deleted, changed = await asyncio.gather(delete(), change(), return_exceptions=True)
        assert (deleted, type(changed)) == (None, NotFound)
