"""The ways to restart a phone, and which one is used."""

import pytest

from phoneprov_adapters.memory.devices import MemoryManager, MemoryPhone
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.commands import (
    CLEAR_SERVICES,
    CiscoPhones,
    NeverRestarting,
    RestartBy,
    reachable_ip,
    restart_action,
    restart_keys,
)
from phoneprov_core.switching.devices.ports import PhoneDriver
from support.phone_records import a_phone

PHONE = a_phone(1)
KEYS = [key.uri for key in restart_keys(PHONE.model)]


@pytest.fixture
def commands() -> MemoryPhone:
    return MemoryPhone()


@pytest.fixture
def manager() -> MemoryManager:
    return MemoryManager()


async def refusal_of(driver: PhoneDriver, phone: Phone = PHONE) -> str:
    """The reason why a phone cannot be restarted."""
    with pytest.raises(Conflict) as caught:
        await driver.restart(phone, "SCCP")
    return caught.value.message


@pytest.mark.parametrize("by", [RestartBy.AUTO, RestartBy.AMI])
@pytest.mark.parametrize("software_type", ["SCCP", "SIP", "SIPE", "sip", None, "exotic"])
async def test_restart_with_a_manager_uses_it(
    by: RestartBy, software_type: str | None, commands: MemoryPhone, manager: MemoryManager
) -> None:
    await CiscoPhones(by, commands, manager).restart(PHONE, software_type)

    assert manager.performed == [restart_action(software_type, PHONE.mac)]
    assert commands.sent == {}


@pytest.mark.parametrize(("by", "has_manager"), [(RestartBy.AUTO, False), (RestartBy.HTTP, True)])
async def test_restart_without_manager_or_set_to_http_uses_the_web_server(
    by: RestartBy, has_manager: bool, commands: MemoryPhone, manager: MemoryManager
) -> None:
    driver = CiscoPhones(by, commands, manager if has_manager else None)
    await driver.restart(PHONE, "SIP")

    assert commands.sent == {PHONE.phone_ip: KEYS}
    assert manager.performed == []


async def test_restart_that_is_not_possible_says_why(commands: MemoryPhone) -> None:
    outside = a_phone(1, phone_ip="192.0.2.1")
    over_web = CiscoPhones(RestartBy.HTTP, commands, None)

    assert "PHONEPROV_AMI_HOST" in await refusal_of(CiscoPhones(RestartBy.AMI, commands, None))
    assert "outside the phone networks" in await refusal_of(over_web, outside)
    assert commands.sent == {}


async def test_restart_set_to_none_restarts_nothing(
    commands: MemoryPhone, manager: MemoryManager
) -> None:
    cisco = CiscoPhones(RestartBy.NONE, commands, manager)
    never = NeverRestarting(CiscoPhones(RestartBy.AUTO, commands, manager))

    for driver in (cisco, never):
        assert "restarts are switched off" in await refusal_of(driver)
    assert (commands.sent, manager.performed) == ({}, [])
    for driver in (cisco, never):
        await driver.leave_services(PHONE)
    assert commands.sent == {PHONE.phone_ip: [CLEAR_SERVICES[0].uri] * 2}


@pytest.mark.parametrize("error", [Refused("It refused."), TimedOut("It was late.")])
async def test_restart_failure_is_raised(
    commands: MemoryPhone, manager: MemoryManager, error: PhoneprovError
) -> None:
    manager.fail(error)
    commands.fail(error)

    for driver in (
        CiscoPhones(RestartBy.AMI, commands, manager),
        CiscoPhones(RestartBy.HTTP, commands, None),
    ):
        with pytest.raises(type(error), match=error.message):
            await driver.restart(PHONE, None)


async def test_restart_over_http_without_address_is_refused(
    commands: MemoryPhone, manager: MemoryManager
) -> None:
    lost = a_phone(1, phone_ip=None)

    assert "phone_ip" in await refusal_of(CiscoPhones(RestartBy.HTTP, commands, None), lost)
    await CiscoPhones(RestartBy.AMI, commands, manager).restart(lost, None)
    with pytest.raises(Conflict):
        reachable_ip(lost)
    assert reachable_ip(PHONE) == "10.20.30.40"


async def test_unexpected_error_is_not_treated_as_a_reply(commands: MemoryPhone) -> None:
    with pytest.raises(AttributeError):
        await CiscoPhones(RestartBy.HTTP, commands, None).restart(None, None)  # type: ignore[arg-type]
