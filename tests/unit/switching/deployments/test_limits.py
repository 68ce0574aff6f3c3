"""Limits on switches by callers that do not hold level 0."""

import asyncio

import pytest

from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, TooManyAttempts
from phoneprov_core.switching.deployments.order import SwitchLimits
from support.office import Settings
from support.records import a_mac
from support.switching import MAC, XML, Desk


async def test_switch_limit_one_phone_is_refused_until_the_window_ends() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_phone=3)))
    for _ in range(3):
        await desk.switched()
        desk.clock.advance(60)

    with pytest.raises(TooManyAttempts) as error:
        await desk.switched()
    assert (error.value.code, error.value.retry_after) == ("too_many_switches", 420)
    assert len(await desk.records()) == 3
    await desk.switched(desk.root)
    desk.clock.advance(420)
    await desk.switched()


async def test_switch_limit_counts_all_callers_of_a_phone_together() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_phone=1)))
    other = await desk.profile_of(desk.bob, XML)
    await desk.switched()

    with pytest.raises(TooManyAttempts):
        await desk.switched(desk.bob, other)


async def test_switch_limit_one_caller_counts_different_phones() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_caller=2)))
    for number in (1, 2, 3):
        new = CreatePhone(mac=a_mac(number), phone_ip=f"10.20.0.{number}", model="7945")
        await desk.phones.create(desk.root, new)
    for number in (1, 2, 1, 2, 1):
        await desk.switched(mac=a_mac(number))

    with pytest.raises(TooManyAttempts) as error:
        await desk.switched(mac=a_mac(3))
    assert error.value.retry_after == 3600
    await desk.switched(mac=a_mac(1))
    desk.clock.advance(3600)
    await desk.switched(mac=a_mac(3))


async def test_switch_limit_concurrent_callers_do_not_pass_it() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_caller=5)))
    for number in range(1, 31):
        new = CreatePhone(mac=a_mac(number), phone_ip=f"10.20.0.{number}", model="7945")
        await desk.phones.create(desk.root, new)

    outcomes = await asyncio.gather(
        *(desk.switched(mac=a_mac(number)) for number in range(1, 31)),
        return_exceptions=True,
    )

    refused = [outcome for outcome in outcomes if isinstance(outcome, TooManyAttempts)]
    assert (len(refused), len(await desk.records())) == (25, 5)


async def test_switch_limit_zero_is_no_limit_and_busy_phone_counts_nothing() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_phone=0, per_caller=0)))
    for _ in range(40):
        await desk.switched()

    desk = await Desk.of(Settings(limits=SwitchLimits(per_phone=1)))
    async with desk.database.write() as tx:
        fence = await tx.leases.take(MAC, "other", 60)
    for _ in range(3):
        with pytest.raises(Conflict):
            await desk.switched()
    async with desk.database.write() as tx:
        assert await tx.leases.release(MAC, "other", fence or 0)
    await desk.switched()
    with pytest.raises(PhoneprovError):
        await desk.switched()
    async with desk.database.read() as tx:
        assert await tx.leases.holder(MAC) is None


async def test_preview_limit_counts_like_switches_and_beside_them() -> None:
    desk = await Desk.of(Settings(limits=SwitchLimits(per_phone=2, per_caller=1)))
    request = desk.request()
    for _ in range(2):
        await desk.preview(desk.ada, request)
        await desk.switched()

    with pytest.raises(TooManyAttempts) as error:
        await desk.preview(desk.ada, request)
    assert (error.value.code, error.value.retry_after) == ("too_many_switches", 600)
    assert error.value.message == "This phone was previewed too often; try again in 600 seconds."
    await desk.preview(desk.root, request)
    await desk.phones.create(
        desk.root, CreatePhone(mac=a_mac(1), phone_ip="10.20.0.1", model="7945")
    )
    other = SwitchRequest(profile_uuid=desk.profile.uuid, mac=a_mac(1))
    with pytest.raises(TooManyAttempts) as error:
        await desk.preview(desk.ada, other)
    assert error.value.retry_after == 3600
    desk.clock.advance(3600)
    await desk.preview(desk.ada, other)
