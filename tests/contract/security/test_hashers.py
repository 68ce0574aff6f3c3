"""The contracts of ``PasswordHasher`` and of ``PinHasher``, over every implementation."""

from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.security.credentials import Argon2Hasher
from support.keys import BOTH_KEYS, OLD_KEYS, argon2_parameters

COMPOSED = "caf\u00e9 au lait"
DECOMPOSED = "cafe\u0301 au lait"
TEXT = st.text(st.characters())
PINS = st.from_regex("[0-9]{4,32}", fullmatch=True)
Hasher = Argon2Hasher | PlainHasher


class Hashers(NamedTuple):
    """A hasher, and one with older parameters and without its current key."""

    today: Hasher
    before: Hasher


@pytest.fixture(scope="module", params=["argon2", "plain"])
def hashers(request: pytest.FixtureRequest) -> Iterator[Hashers]:
    if request.param == "plain":
        yield Hashers(PlainHasher(2), PlainHasher(1))
        return
    today = Argon2Hasher(BOTH_KEYS, parameters=argon2_parameters())
    before = Argon2Hasher(OLD_KEYS, parameters=argon2_parameters(memory_cost=32))
    yield Hashers(today, before)
    today.close()
    before.close()


class Kind(NamedTuple):
    """How passwords or PINs are hashed and verified."""

    hash: Callable[[str], Awaitable[str]]
    verify: Callable[[str, str], Awaitable[bool]]


def _passwords(hasher: Hasher) -> Kind:
    return Kind(hasher.hash, hasher.verify)


def _pins(hasher: Hasher) -> Kind:
    return Kind(hasher.hash_pin, hasher.verify_pin)


KINDS = pytest.mark.parametrize("kind", [_passwords, _pins])
Kinds = Callable[[Hasher], Kind]


@given(password=TEXT, other=st.text(st.characters(), min_size=1))
async def test_password_verifies_in_full_against_its_hash_only(
    hashers: Hashers, password: str, other: str
) -> None:
    hash_ = await hashers.today.hash(password + ".")

    assert await hashers.today.verify(f"{password}.", hash_)
    assert not await hashers.today.verify(password, hash_)
    assert not await hashers.today.verify(f"{password}.{other}", hash_)


@given(pin=PINS, other=PINS)
async def test_pin_verifies_against_its_hash_only(hashers: Hashers, pin: str, other: str) -> None:
    hash_ = await hashers.today.hash_pin(pin)

    assert await hashers.today.verify_pin(pin, hash_)
    assert await hashers.today.verify_pin(other, hash_) is (pin == other)
    assert not await hashers.today.verify_pin(pin + "0", hash_)


@pytest.mark.parametrize(
    ("password", "other", "verifies"),
    [
        ("Correct horse", "correct horse", False),
        ("correct horse", "correct horse ", False),
        ("correct horse", " correct horse", False),
        ("correct\0horse", "correct\0donkey", False),
        ("x" * 100_000, "x" * 99_999, False),
        ("\u212bngstrom 5", "\uff41ngstrom 5", False),
        (COMPOSED, DECOMPOSED, True),
        (DECOMPOSED, COMPOSED, True),
    ],
    ids=range(8),
)
async def test_password_is_compared_by_its_unicode_form_alone(
    hashers: Hashers, password: str, other: str, verifies: bool
) -> None:
    hash_ = await hashers.today.hash(password)

    assert await hashers.today.verify(password, hash_)
    assert await hashers.today.verify(other, hash_) is verifies


@KINDS
async def test_hash_is_salted(hashers: Hashers, kind: Kinds) -> None:
    hashes = [await kind(hashers.today).hash("2468") for _ in range(2)]

    assert hashes[0] != hashes[1]
    assert [await kind(hashers.today).verify("2468", one) for one in hashes] == [True, True]


async def test_missing_hash_verifies_no_password(hashers: Hashers) -> None:
    for password in ("correct horse", ""):
        assert not await hashers.today.verify(password, None)


@KINDS
async def test_older_hash_verifies(hashers: Hashers, kind: Kinds) -> None:
    old = await kind(hashers.before).hash("2468")

    assert await kind(hashers.today).verify("2468", old)
    assert not await kind(hashers.today).verify("2469", old)


async def test_hash_with_other_parameters_is_outdated(hashers: Hashers) -> None:
    assert not hashers.today.is_outdated(await hashers.today.hash("correct horse"))
    assert hashers.today.is_outdated(await hashers.before.hash("correct horse"))


@given(hash_=TEXT, secret=TEXT)
async def test_invalid_hash_verifies_nothing_and_is_outdated(
    hashers: Hashers, hash_: str, secret: str
) -> None:
    assert not await hashers.today.verify(secret, hash_)
    assert not await hashers.today.verify_pin(secret, hash_)
    assert hashers.today.is_outdated(hash_)


@KINDS
async def test_damaged_hash_verifies_nothing(hashers: Hashers, kind: Kinds) -> None:
    hash_ = await kind(hashers.today).hash("2468")

    for damaged in ("", hash_[1:], hash_[:-1], hash_ + "\0", hash_ + "x", " " + hash_):
        assert not await kind(hashers.today).verify("2468", damaged), damaged


async def test_password_hash_does_not_verify_as_a_pin(hashers: Hashers) -> None:
    hasher = hashers.today

    assert not await hasher.verify_pin("2468", await hasher.hash("2468"))
    assert not await hasher.verify("2468", await hasher.hash_pin("2468"))
