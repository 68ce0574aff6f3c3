"""100 wrong passwords in a row lock an account until an administrator acts."""

import pytest

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TooManyAttempts
from phoneprov_core.people.auth.accounts import CreateAdmin
from phoneprov_core.people.users.model import AccountPolicy, Registration, UserPatch
from support.logins import fail, fail_in_a_row
from support.office import PASSWORD, Office


@pytest.mark.parametrize("username", ["ada", "unknown", "sleeper"])
async def test_login_100_failures_in_a_row_lock_until_administrator(
    office: Office, root: Actor, ada: Actor, username: str
) -> None:
    await office.add_user("sleeper", is_active=False)
    await fail_in_a_row(office, username, 100)
    office.clock.advance(20 * 3600)

    with pytest.raises(TooManyAttempts) as error:
        await office.log_in(username, PASSWORD, "10.66.0.2")
    assert (error.value.code, error.value.retry_after) == ("locked", 900)
    if username == "ada":
        await office.users.update(root, ada.user_uuid, UserPatch(password="another password"))
        await office.log_in("ada", "another password", "10.66.0.2")


async def test_login_99_failures_in_a_row_do_not_lock_and_success_resets_them(
    office: Office, ada: Actor
) -> None:
    await fail_in_a_row(office, "ada", 99)
    office.clock.advance(40 * 24 * 3600)
    await office.log_in("ada", PASSWORD, "10.66.0.2")

    await fail_in_a_row(office, "ada", 99)
    office.clock.advance(15 * 60)
    await office.log_in("ada", PASSWORD, "10.66.0.3")


@pytest.mark.parametrize(("days", "locked"), [(29, False), (31, True)])
async def test_login_locked_account_is_open_to_addresses_of_the_last_30_days(
    office: Office, ada: Actor, days: int, locked: bool
) -> None:
    await office.log_in("ada")
    await fail_in_a_row(office, "ada", 100)
    office.clock.advance(days * 24 * 3600 - 100 * 15 * 60)

    if locked:
        with pytest.raises(TooManyAttempts):
            await office.log_in("ada")
        return
    with pytest.raises(TooManyAttempts):
        await office.log_in("ada", PASSWORD, "10.66.0.1")
    await office.log_in("ada")
    await office.log_in("ada", PASSWORD, "10.66.0.1")


async def test_login_locked_familiar_address_keeps_the_short_locks(
    office: Office, ada: Actor
) -> None:
    await office.log_in("ada")
    await fail_in_a_row(office, "ada", 100)
    office.clock.advance(16 * 60)

    await fail(office, times=5)
    with pytest.raises(TooManyAttempts) as error:
        await office.log_in("ada")
    assert (error.value.code, error.value.retry_after) == ("too_many_attempts", 30)


async def test_create_admin_again_unlocks_the_account(office: Office, ada: Actor) -> None:
    await fail_in_a_row(office, "ada", 100)
    policy = AccountPolicy(lambda _: False)
    create = CreateAdmin(office.database, office.hasher, policy, office.clock, office.new_id)
    await create(
        Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password="",
        )
    )

    office.clock.advance(15 * 60)
    await office.log_in("ada", PASSWORD, "10.66.0.2")
