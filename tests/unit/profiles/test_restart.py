"""The ways to restart a phone, and which of them is taken."""

from __future__ import annotations

import pytest

from phoneprov_adapters.memory.phone import MemoryManager, MemoryPhone
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.profiles.device import restart_action, restart_keys
from phoneprov_core.profiles.restart import OK, Restart, RestartBy, reachable_ip
from support.stores import a_phone

PHONE = a_phone(1)
KEYS = [key.uri for key in restart_keys(PHONE.model)]


@pytest.fixture
def commands() -> MemoryPhone:
    return MemoryPhone()


@pytest.fixture
def manager() -> MemoryManager:
    return MemoryManager()


@pytest.mark.parametrize("by", [RestartBy.AUTO, RestartBy.AMI])
@pytest.mark.parametrize("software_type", ["SCCP", "SIP", "SIPE", "sip", None, "exotic"])
async def test_through_the_manager_where_there_is_one(
    by: RestartBy, software_type: str | None, commands: MemoryPhone, manager: MemoryManager
) -> None:
    assert await Restart(by, commands, manager)(PHONE, software_type) == OK

    assert manager.performed == [restart_action(software_type, PHONE.mac)]
    assert commands.sent == {}


async def test_over_the_phone_s_web_where_there_is_no_manager(commands: MemoryPhone) -> None:
    assert await Restart(RestartBy.AUTO, commands, None)(PHONE, "SCCP") == OK

    assert commands.sent == {PHONE.phone_ip: KEYS}


async def test_over_the_phone_s_web_when_that_was_chosen(
    commands: MemoryPhone, manager: MemoryManager
) -> None:
    assert await Restart(RestartBy.HTTP, commands, manager)(PHONE, "SIP") == OK

    assert commands.sent == {PHONE.phone_ip: KEYS}
    assert manager.performed == []


async def test_not_at_all_when_that_was_chosen(
    commands: MemoryPhone, manager: MemoryManager
) -> None:
    said = await Restart(RestartBy.NONE, commands, manager)(PHONE, "SCCP")

    assert said == "The phone was not restarted: restarts are switched off."
    assert (commands.sent, manager.performed) == ({}, [])


async def test_a_manager_that_is_not_set_up_is_said_to_be_missing(commands: MemoryPhone) -> None:
    said = await Restart(RestartBy.AMI, commands, None)(PHONE, "SCCP")

    assert "PHONEPROV_AMI_HOST" in said
    assert commands.sent == {}


@pytest.mark.parametrize("error", [Refused("It refused."), TimedOut("It was late.")])
async def test_a_failure_is_said_in_words(
    commands: MemoryPhone, manager: MemoryManager, error: PhoneprovError
) -> None:
    manager.fail(error)
    commands.fail(error)

    assert await Restart(RestartBy.AMI, commands, manager)(PHONE, None) == error.message
    assert await Restart(RestartBy.HTTP, commands, None)(PHONE, None) == error.message


async def test_a_phone_without_an_address_cannot_be_reached_over_its_web(
    commands: MemoryPhone, manager: MemoryManager
) -> None:
    lost = a_phone(1, phone_ip=None)

    assert "phone_ip" in await Restart(RestartBy.HTTP, commands, None)(lost, None)
    assert await Restart(RestartBy.AMI, commands, manager)(lost, None) == OK
    with pytest.raises(Conflict):
        reachable_ip(lost)
    assert reachable_ip(PHONE) == "10.20.30.40"


async def test_an_address_outside_the_phone_networks_is_not_called(commands: MemoryPhone) -> None:
    outside = a_phone(1, phone_ip="192.0.2.1")

    said = await Restart(RestartBy.HTTP, commands, None)(outside, None)

    assert "outside the phone networks" in said
    assert commands.sent == {}


async def test_a_mistake_of_our_own_is_not_taken_for_an_answer(commands: MemoryPhone) -> None:
    with pytest.raises(AttributeError):
        await Restart(RestartBy.HTTP, commands, None)(None, None)  # type: ignore[arg-type]
