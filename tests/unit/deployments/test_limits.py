"""Limits on switches by callers that do not hold level 0."""

import asyncio

import pytest

from phoneprov_core.deployments.limits import SwitchLimits
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, TooManyAttempts
from phoneprov_core.phones.model import CreatePhone
from phoneprov_core.profiles.model import CreateProfile, Profile, SwitchRequest
from support.office import Office, Settings
from support.records import a_mac
from support.switching import MAC, XML, a_desk, deployments, switch


async def an_office(limits: SwitchLimits) -> tuple[Office, Actor, Actor, Profile]:
    office = Office(Settings(limits=limits))
    root, ada = await office.add_user("root", level=0), await office.add_user("ada")
    return office, root, ada, await a_desk(office, root, ada)


async def test_switch_limit_one_phone_is_refused_until_the_window_ends() -> None:
    office, root, ada, profile = await an_office(SwitchLimits(per_phone=3))
    for _ in range(3):
        await switch(office, ada, profile)
        office.clock.advance(60)

    with pytest.raises(TooManyAttempts) as error:
        await switch(office, ada, profile)
    assert (error.value.code, error.value.retry_after) == ("too_many_switches", 420)
    assert len(await deployments(office)) == 3
    await switch(office, root, profile)
    office.clock.advance(420)
    await switch(office, ada, profile)


async def test_switch_limit_counts_all_callers_of_a_phone_together() -> None:
    office, _, ada, profile = await an_office(SwitchLimits(per_phone=1))
    bob = await office.add_user("bob")
    other = await office.profiles.create(
        bob, CreateProfile(user_uuid=bob.user_uuid, name="Bob", cnf_xml=XML)
    )
    await switch(office, ada, profile)

    with pytest.raises(TooManyAttempts):
        await switch(office, bob, other)


async def test_switch_limit_one_caller_counts_different_phones() -> None:
    office, root, ada, profile = await an_office(SwitchLimits(per_caller=2))
    for number in (1, 2, 3):
        new = CreatePhone(mac=a_mac(number), phone_ip=f"10.20.0.{number}", model="7945")
        await office.phones.create(root, new)
    for number in (1, 2, 1, 2, 1):
        await switch(office, ada, profile, a_mac(number))

    with pytest.raises(TooManyAttempts) as error:
        await switch(office, ada, profile, a_mac(3))
    assert error.value.retry_after == 3600
    await switch(office, ada, profile, a_mac(1))
    office.clock.advance(3600)
    await switch(office, ada, profile, a_mac(3))


async def test_switch_limit_concurrent_callers_do_not_pass_it() -> None:
    office, root, ada, profile = await an_office(SwitchLimits(per_caller=5))
    for number in range(1, 31):
        new = CreatePhone(mac=a_mac(number), phone_ip=f"10.20.0.{number}", model="7945")
        await office.phones.create(root, new)

    outcomes = await asyncio.gather(
        *(switch(office, ada, profile, a_mac(number)) for number in range(1, 31)),
        return_exceptions=True,
    )

    refused = [outcome for outcome in outcomes if isinstance(outcome, TooManyAttempts)]
    assert (len(refused), len(await deployments(office))) == (25, 5)


async def test_switch_limit_zero_is_no_limit_and_busy_phone_counts_nothing() -> None:
    office, _, ada, profile = await an_office(SwitchLimits(per_phone=0, per_caller=0))
    for _ in range(40):
        await switch(office, ada, profile)

    office, _, ada, profile = await an_office(SwitchLimits(per_phone=1))
    async with office.database.write() as tx:
        fence = await tx.leases.take(MAC, "other", 60)
    for _ in range(3):
        with pytest.raises(Conflict):
            await switch(office, ada, profile)
    async with office.database.write() as tx:
        assert await tx.leases.release(MAC, "other", fence or 0)
    await switch(office, ada, profile)
    with pytest.raises(PhoneprovError):
        await switch(office, ada, profile)
    async with office.database.read() as tx:
        assert await tx.leases.holder(MAC) is None


async def test_preview_limit_counts_like_switches_and_beside_them() -> None:
    office, root, ada, profile = await an_office(SwitchLimits(per_phone=2, per_caller=1))
    request = SwitchRequest(profile_uuid=profile.uuid, mac=MAC)
    for _ in range(2):
        await office.preview(ada, request)
        await switch(office, ada, profile)

    with pytest.raises(TooManyAttempts) as error:
        await office.preview(ada, request)
    assert (error.value.code, error.value.retry_after) == ("too_many_switches", 600)
    assert error.value.message == "This phone was previewed too often; try again in 600 seconds."
    await office.preview(root, request)
    await office.phones.create(root, CreatePhone(mac=a_mac(1), phone_ip="10.20.0.1", model="7945"))
    other = SwitchRequest(profile_uuid=profile.uuid, mac=a_mac(1))
    with pytest.raises(TooManyAttempts) as error:
        await office.preview(ada, other)
    assert error.value.retry_after == 3600
    office.clock.advance(3600)
    await office.preview(ada, other)
