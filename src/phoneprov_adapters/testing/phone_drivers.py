"""The contract of phone drivers, as tests."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any

import msgspec
import pytest

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.devices.ports import PhoneDriver
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN

_START = datetime(2026, 1, 31, tzinfo=UTC)


def moment(number: int) -> str:
    """A shown moment, later for a larger number."""
    return timestamp(_START + timedelta(seconds=number))


def a_mac(number: int) -> str:
    """A MAC made of a number."""
    return ":".join(f"{octet:02X}" for octet in (0, 0x1B, 0xD4, *number.to_bytes(3, "big")))


def a_phone(number: int, **changes: Any) -> Phone:
    """An active phone of the inventory; larger numbers are created later."""
    phone = Phone(
        mac=a_mac(number),
        brand="Cisco",
        model="CP-7945G",
        description=None,
        name=None,
        hostname=None,
        location=None,
        phone_ip="10.20.30.40",
        phone_vlan=None,
        software_version=None,
        software_type="SCCP",
        is_active=True,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(phone, **changes)


MOST_SECONDS = 8.0
"""A switch has 30 s in all; a driver has this maximum for each call."""

WORDS = "raw words of the phone 4711"
"""Text of a refusal; no message repeats it."""


@dataclass(frozen=True)
class PhoneDriverRig:
    """A driver, and the phone that it calls.

    ``phone`` is in the inventory with an address that may be called. ``restarts`` is the number of
    restart commands that reached the phone, or the server between. After ``refuse`` it refuses with
    ``WORDS``, after ``fall_silent`` it does not answer, after ``vanish`` it does not accept
    connections; ``recover`` undoes the first two. ``secrets`` are texts that no message may repeat.
    ``by_address`` is whether the driver calls the phone itself.
    """

    driver: PhoneDriver
    phone: Phone
    restarts: Callable[[], int]
    refuse: Callable[[], object]
    fall_silent: Callable[[], object]
    recover: Callable[[], object]
    vanish: Callable[[], Awaitable[object]] | None = None
    secrets: tuple[str, ...] = ()
    by_address: bool = True


@pytest.mark.asyncio
class PhoneDriverContract:
    """Subclass this class as ``Test...`` with a fixture ``rig``, a ``PhoneDriverRig``. A test waits
    for the driver's timeout: 4 seconds are short, and enough on a busy machine."""

    @pytest.fixture
    def rig(self) -> PhoneDriverRig:
        """The rig; override it."""
        raise NotImplementedError("give your subclass of PhoneDriverContract a fixture 'rig'")

    @pytest.mark.parametrize("software_type", [None, "SCCP", "SIP", "anything else"])
    async def test_restart_sends_one_order(
        self, rig: PhoneDriverRig, software_type: str | None
    ) -> None:
        await rig.driver.restart(rig.phone, software_type)

        assert rig.restarts() == 1

    async def test_leave_services_does_not_restart(self, rig: PhoneDriverRig) -> None:
        await rig.driver.leave_services(rig.phone)

        assert rig.restarts() == 0

    async def test_restart_proceeds_before_each_command(self, rig: PhoneDriverRig) -> None:
        seen = []

        async def proceed(tx: object = None) -> None:  # noqa: ARG001
            seen.append(rig.restarts())

        await rig.driver.restart(rig.phone, None, proceed)

        assert seen[:1] == [0]

    async def test_restart_that_may_not_proceed_sends_nothing(self, rig: PhoneDriverRig) -> None:
        async def lost(tx: object = None) -> None:  # noqa: ARG001
            raise TimedOut("The lease was lost.", code=OUTCOME_UNKNOWN)

        with pytest.raises(TimedOut) as caught:
            await rig.driver.restart(rig.phone, None, lost)

        assert caught.value.code == OUTCOME_UNKNOWN
        assert rig.restarts() == 0

    async def test_concurrent_orders_are_all_executed(self, rig: PhoneDriverRig) -> None:
        await asyncio.gather(*(rig.driver.restart(rig.phone, None) for _ in range(5)))

        assert rig.restarts() == 5

    async def test_refusal_of_the_phone_is_reworded(self, rig: PhoneDriverRig) -> None:
        rig.refuse()

        with pytest.raises(Refused) as caught:
            await rig.driver.restart(rig.phone, None)

        _require_our_own_words(caught.value, rig)

    async def test_silent_phone_times_out(self, rig: PhoneDriverRig) -> None:
        rig.fall_silent()
        began = perf_counter()

        with pytest.raises(TimedOut) as caught:
            await rig.driver.restart(rig.phone, None)

        assert perf_counter() - began < MOST_SECONDS
        _require_our_own_words(caught.value, rig)

    async def test_unreachable_phone_is_refused(self, rig: PhoneDriverRig) -> None:
        if rig.vanish is None:
            pytest.skip("the rig cannot make the phone vanish")
        await rig.vanish()

        with pytest.raises(Refused) as caught:
            await rig.driver.restart(rig.phone, None)

        _require_our_own_words(caught.value, rig)

    async def test_after_a_failure_the_phone_can_be_called_again(self, rig: PhoneDriverRig) -> None:
        rig.refuse()
        with pytest.raises(PhoneprovError):
            await rig.driver.restart(rig.phone, None)
        before = rig.restarts()
        rig.recover()

        await rig.driver.restart(rig.phone, None)

        assert rig.restarts() == before + 1

    async def test_restart_that_is_cancelled_stops(self, rig: PhoneDriverRig) -> None:
        rig.fall_silent()
        task = asyncio.ensure_future(rig.driver.restart(rig.phone, None))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait({task}, timeout=MOST_SECONDS)

        assert task.cancelled()

    async def test_phone_without_an_address_is_a_conflict(self, rig: PhoneDriverRig) -> None:
        if not rig.by_address:
            pytest.skip("the driver does not call the phone itself")

        with pytest.raises(Conflict) as caught:
            await rig.driver.restart(_at(rig.phone, None), None)

        assert rig.restarts() == 0
        _require_our_own_words(caught.value, rig)

    @pytest.mark.parametrize("address", ["192.0.2.1", "169.254.1.1", "224.0.0.1", "240.0.0.1"])
    async def test_address_that_is_not_allowed_is_a_conflict(
        self, rig: PhoneDriverRig, address: str
    ) -> None:
        if not rig.by_address:
            pytest.skip("the driver does not call the phone itself")

        with pytest.raises(Conflict):
            await rig.driver.restart(_at(rig.phone, address), None)

        assert rig.restarts() == 0


def _at(phone: Phone, address: str | None) -> Phone:
    return msgspec.structs.replace(phone, phone_ip=address)


def _require_our_own_words(error: PhoneprovError, rig: PhoneDriverRig) -> None:
    assert error.message.endswith(".")
    assert "\n" not in error.message
    for text in (WORDS, *rig.secrets):
        assert text not in error.message
