"""Checking a PIN: locks, audit entries, log, and the cost of a refusal."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from phoneprov_core.features.desks.pins import CheckPin, phone_key
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated, Unavailable
from phoneprov_core.kernel.values import millis
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.auth.model import LoginFailure
from phoneprov_core.people.throttle import AddressLimit
from phoneprov_core.people.vendor_users import CreatePin, VendorUsers, guess_key
from support.office import Office
from support.phone_records import a_phone
from support.records import a_mac

MAC, OTHER_MAC = a_mac(1), a_mac(2)
IP = "10.0.0.5"
PIN, WRONG = "24681357", "97531975"


class Work:
    """Counts hashes and transactions."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self.done: list[str] = []

    async def hash_pin(self, pin: str) -> str:
        return await self._office.hasher.hash_pin(pin)

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        self.done.append("hash")
        return await self._office.hasher.verify_pin(pin, hash_)

    def read(self) -> AbstractAsyncContextManager[Any]:
        self.done.append("read")
        return self._office.database.read()

    def write(self, *, by: Actor) -> AbstractAsyncContextManager[Any]:
        self.done.append("write")
        return self._office.database.write(by=by)


class PinOffice(Office):
    """Ada has a PIN, bob has one and is not active, grace has none."""

    def __init__(self, guesses: int = 200) -> None:
        super().__init__()
        self.work = Work(self)
        self.refused: list[LoginFailure] = []
        limit = AddressLimit("pin", guesses, self.clock)
        self.check = CheckPin(self.work, self.work, self.clock, limit, journal=self.refused.append)
        self.pins = VendorUsers(self.database, self.work, self.clock, self.new_id)

    async def populate(self) -> None:
        async with self.database.write() as tx:
            for number in range(1, 200):
                await tx.phones.add(a_phone(number))
        self.ada = await self.add_user("ada")
        self.bob = await self.add_user("bob")
        await self.add_user("grace")
        for user in (self.ada, self.bob):
            await self.set_pin(user)
        await self.deactivate(self.bob.user_uuid)

    async def set_pin(self, user: Actor) -> None:
        await self.pins.save(user, user.user_uuid, CreatePin(pin_code=PIN))

    async def guess(self, name: str, pin: str, mac: str = MAC, ip: str = IP) -> str:
        """``ok``, or the reason of the refusal."""
        try:
            await self.check(name, pin, mac, ip)
        except Unauthenticated:
            return self.refused[-1].reason
        return "ok"

    async def events(self, action: str) -> list[tuple[str, str | None, dict[str, Any]]]:
        """The audit entries of an action, oldest first."""
        async with self.database.read() as tx:
            traced = await tx.audit.newest(WantedEntries(action=action), 100)
        entries = [one.entry for one in reversed(traced)]
        return [
            (one.resource, one.resource_id, {k: v["new"] for k, v in one.changes.items()})
            for one in entries
        ]


@pytest.fixture
async def pin_office() -> PinOffice:
    office = PinOffice()
    await office.populate()
    return office


@pytest.mark.parametrize(
    ("name", "pin"),
    [
        ("ada", WRONG), ("ada", ""), ("ada", "1"), ("ada", "9" * 255), ("bob", PIN),
        ("grace", PIN), ("unknown", PIN), ("", PIN), ("\u202eada", PIN),
    ],
)  # fmt: skip
async def test_pin_refusals_have_the_same_cost(pin_office: PinOffice, name: str, pin: str) -> None:
    assert await pin_office.guess(name, pin) == "wrong_pin"

    assert pin_office.work.done == ["read", "write", "hash", "write"]


async def test_pin_locked_user_costs_the_same_hash(pin_office: PinOffice) -> None:
    for _ in range(5):
        await pin_office.guess("ada", WRONG)
    pin_office.work.done.clear()

    assert await pin_office.guess("ada", PIN, OTHER_MAC) == "pin_locked"
    assert pin_office.work.done == ["read", "write", "hash", "write"]
    pin_office.work.done.clear()

    # A locked phone says nothing of a user, and costs no hash.
    assert await pin_office.guess("grace", PIN, MAC) == "pin_locked"
    assert pin_office.work.done == ["read", "write"]


async def test_pin_lock_is_recorded_for_user_and_phone(pin_office: PinOffice) -> None:
    for _ in range(4):
        await pin_office.guess("ada", WRONG)
    assert await pin_office.events("login.locked") == []

    await pin_office.guess("ada", WRONG)

    lock = {"seconds": 30, "failures_in_a_row": 5}
    locked = sorted(await pin_office.events("login.locked"), key=lambda event: event[0])
    assert locked == [
        ("desk", MAC, lock),
        ("user", pin_office.ada.user_uuid, {"mac": MAC, **lock}),
    ]
    failed = await pin_office.events("login.failed")
    assert failed == [("user", pin_office.ada.user_uuid, {"mac": MAC})] * 5
    # A lock decides and records nothing.
    assert await pin_office.guess("ada", PIN) == "pin_locked"
    assert len(await pin_office.events("login.locked")) == 2
    assert len(await pin_office.events("login.failed")) == 5


async def test_pin_lock_doubles_to_15_minutes_and_is_permanent_after_100_failures(
    pin_office: PinOffice,
) -> None:
    waits = []
    for number in range(1, 101):
        await pin_office.guess("ada", WRONG, a_mac(number))
        locked = [one[2] for one in await pin_office.events("login.locked") if one[0] == "user"]
        if number >= 5:
            waits.append(locked[-1]["seconds"])
            pin_office.clock.advance(waits[-1])

    assert waits[:7] == [30, 60, 120, 240, 480, 900, 900]
    pin_office.clock.advance(30 * 24 * 3600)
    assert await pin_office.guess("ada", PIN, a_mac(500)) == "pin_locked"
    await pin_office.set_pin(pin_office.ada)
    assert await pin_office.guess("ada", PIN, a_mac(500)) == "ok"


async def test_pin_unknown_name_is_locked_like_a_user_and_not_recorded(
    pin_office: PinOffice,
) -> None:
    for number in range(5):
        await pin_office.guess("86428642", WRONG, a_mac(number))

    assert await pin_office.guess("86428642", WRONG, a_mac(7)) == "pin_locked"
    async with pin_office.database.read() as tx:
        entries = await tx.audit.newest(WantedEntries(), 100)
    assert "86428642" not in repr(entries)
    assert WRONG not in repr(entries)
    assert {one.client_ip for one in pin_office.refused} == {IP}


async def test_pin_right_clears_the_count_of_its_user_and_not_of_the_phone(
    pin_office: PinOffice,
) -> None:
    """A guesser with a PIN of their own could clear the count of the phone at will."""
    guesser = await pin_office.add_user("guesser")
    await pin_office.set_pin(guesser)
    outcomes = []
    for number in range(8):
        outcomes.append(await pin_office.guess(f"user{number}", WRONG))
        outcomes.append(await pin_office.guess("guesser", PIN))

    assert outcomes[:9] == ["wrong_pin", "ok"] * 4 + ["wrong_pin"]
    assert set(outcomes[9:]) == {"pin_locked"}
    for number in range(10, 22):
        assert await pin_office.guess("ada", WRONG, a_mac(number)) == "wrong_pin"
        if number % 4 == 1:
            assert await pin_office.guess("ada", PIN, OTHER_MAC) == "ok"


async def test_pin_failures_are_limited_per_address_before_hashing() -> None:
    office = PinOffice(guesses=3)
    await office.populate()
    for number in range(3):
        ip = f"2001:db8::{number + 1}"
        assert await office.guess(f"user{number}", WRONG, a_mac(number), ip) == "wrong_pin"
        assert await office.guess("ada", PIN, a_mac(number + 10), "10.0.0.9") == "ok"
    office.work.done.clear()

    assert await office.guess("ada", PIN, a_mac(9), "2001:db8::ffff") == "pin_locked"
    assert office.work.done == ["read", "write"]
    assert await office.guess("ada", PIN, a_mac(9), "2001:db8::ffff") == "pin_locked"
    assert office.work.done == ["read", "write"]
    assert await office.guess("ada", PIN, a_mac(9), "2001:db8:0:1::1") == "ok"
    office.clock.advance(15 * 60)
    assert await office.guess("ada", PIN, a_mac(9), "2001:db8::1") == "ok"


async def test_pin_guesses_at_a_locked_user_count_at_their_phone(pin_office: PinOffice) -> None:
    for number in range(5):
        await pin_office.guess("ada", WRONG, a_mac(number + 10))
    for _ in range(5):
        assert await pin_office.guess("ada", PIN) == "pin_locked"
    pin_office.work.done.clear()

    assert await pin_office.guess("ada", PIN) == "pin_locked"
    assert "hash" not in pin_office.work.done


async def test_pin_that_could_not_be_checked_does_not_count(
    pin_office: PinOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_many(pin: str, hash_: str) -> bool:
        raise Unavailable

    with monkeypatch.context() as patched:
        patched.setattr(pin_office.work, "verify_pin", too_many)
        for _ in range(10):
            with pytest.raises(Unavailable):
                await pin_office.guess("ada", PIN)
    assert await pin_office.guess("ada", PIN) == "ok"


async def test_pin_checks_of_a_killed_process_do_not_count(pin_office: PinOffice) -> None:
    for _ in range(20):  # right or wrong
        async with pin_office.database.write() as tx:
            for key in (phone_key(MAC), guess_key(pin_office.ada.user_uuid)):
                now = millis(pin_office.clock())
                await tx.attempts.keep(key, (await tx.attempts.of(key)).settled(now).counted(now))
        pin_office.clock.advance(5)

    for _ in range(5):
        assert await pin_office.guess("ada", WRONG) == "wrong_pin"
    assert await pin_office.guess("ada", PIN) == "pin_locked"


async def test_pin_right_leaves_an_audit_entry(pin_office: PinOffice) -> None:
    assert await pin_office.guess("ada", PIN) == "ok"

    expected = ("user", pin_office.ada.user_uuid, {"mac": MAC})
    assert await pin_office.events("login.succeeded") == [expected]
    async with pin_office.database.read() as tx:
        [entry] = await tx.audit.newest(WantedEntries(action="login.succeeded"), 5)
    assert (entry.entry.actor_uuid, entry.entry.client_ip) == (pin_office.ada.user_uuid, IP)


async def test_pin_phone_is_locked_after_100_failures_until_an_administrator_opens_it(
    pin_office: PinOffice,
) -> None:
    for number in range(100):
        assert await pin_office.guess(f"user{number}", WRONG) == "wrong_pin"
        pin_office.clock.advance(15 * 60)
        if number == 50:
            assert await pin_office.guess("ada", PIN) == "ok"
            pin_office.clock.advance(15 * 60)

    pin_office.clock.advance(365 * 24 * 3600)
    assert await pin_office.guess("ada", PIN) == "pin_locked"
    async with pin_office.database.write() as tx:
        await tx.attempts.clear(phone_key(MAC))
    assert await pin_office.guess("ada", PIN) == "ok"
