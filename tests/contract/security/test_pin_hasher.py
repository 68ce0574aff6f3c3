"""The contract of ``PinHasher``, over every implementation."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_core.vendor_users import PinHasher
from support.keys import BOTH_KEYS, OLD_KEYS, argon2_parameters

PINS = st.from_regex("[0-9]{4,32}", fullmatch=True)


class Hashers(NamedTuple):
    """A hasher, and one without its current key."""

    today: PinHasher
    before: PinHasher


@pytest.fixture(scope="module", params=["argon2", "plain"])
def hashers(request: pytest.FixtureRequest) -> Iterator[Hashers]:
    if request.param == "plain":
        yield Hashers(PlainHasher(), PlainHasher())
        return
    today = Argon2Hasher(BOTH_KEYS, parameters=argon2_parameters())
    before = Argon2Hasher(OLD_KEYS, parameters=argon2_parameters())
    yield Hashers(today, before)
    today.close()
    before.close()


# PlainHasher cannot parse text without "$".
TEXT_OF_ALL_KINDS = pytest.mark.parametrize(
    "hashers",
    ["argon2", "plain"],
    indirect=True,
)


@given(pin=PINS, other=PINS)
async def test_pin_verifies_against_its_hash_only(hashers: Hashers, pin: str, other: str) -> None:
    hash_ = await hashers.today.hash_pin(pin)

    assert await hashers.today.verify_pin(pin, hash_)
    assert await hashers.today.verify_pin(other, hash_) is (pin == other)
    assert not await hashers.today.verify_pin(pin + "0", hash_)


async def test_pin_hash_is_salted(hashers: Hashers) -> None:
    assert await hashers.today.hash_pin("2468") != await hashers.today.hash_pin("2468")


async def test_pin_hashed_under_an_older_key_verifies(hashers: Hashers) -> None:
    hash_ = await hashers.before.hash_pin("2468")

    assert await hashers.today.verify_pin("2468", hash_)
    assert not await hashers.today.verify_pin("2469", hash_)


@TEXT_OF_ALL_KINDS
@given(hash_=st.text(st.characters()), pin=st.text(st.characters()))
async def test_invalid_hash_verifies_nothing(hashers: Hashers, hash_: str, pin: str) -> None:
    assert not await hashers.today.verify_pin(pin, hash_)


@TEXT_OF_ALL_KINDS
async def test_damaged_hash_verifies_nothing(hashers: Hashers) -> None:
    hash_ = await hashers.today.hash_pin("2468")

    for damaged in ("", hash_[1:], hash_[:-1], hash_ + "\0", hash_ + "x", " " + hash_):
        assert not await hashers.today.verify_pin("2468", damaged), damaged


async def test_password_hash_does_not_verify_as_a_pin(hashers: Hashers) -> None:
    passwords = hashers.today
    assert isinstance(passwords, Argon2Hasher | PlainHasher)

    assert not await passwords.verify_pin("2468", await passwords.hash("2468"))
    assert not await passwords.verify("2468", await passwords.hash_pin("2468"))
