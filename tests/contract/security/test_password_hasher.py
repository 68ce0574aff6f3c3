"""The contract of ``PasswordHasher``, over every implementation."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_core.users.passwords import PasswordHasher
from support.keys import NEW_KEYS, argon2_parameters

COMPOSED = "caf\u00e9 au lait"
DECOMPOSED = "cafe\u0301 au lait"


class Hashers(NamedTuple):
    """A hasher, and one with older parameters."""

    today: PasswordHasher
    before: PasswordHasher


@pytest.fixture(scope="module", params=["argon2", "plain"])
def hashers(request: pytest.FixtureRequest) -> Iterator[Hashers]:
    if request.param == "plain":
        yield Hashers(PlainHasher(2), PlainHasher(1))
        return
    today = Argon2Hasher(NEW_KEYS, parameters=argon2_parameters())
    before = Argon2Hasher(NEW_KEYS, parameters=argon2_parameters(memory_cost=32))
    yield Hashers(today, before)
    today.close()
    before.close()


# PlainHasher cannot parse text without "$".
TEXT_OF_ALL_KINDS = pytest.mark.parametrize(
    "hashers",
    ["argon2", "plain"],
    indirect=True,
)


@given(password=st.text(st.characters()))
async def test_password_verifies_against_its_hash_only(hashers: Hashers, password: str) -> None:
    hash_ = await hashers.today.hash(password)

    assert await hashers.today.verify(password, hash_)


@given(password=st.text(st.characters(), max_size=300), other=st.text(st.characters(), min_size=1))
async def test_password_is_compared_in_full(hashers: Hashers, password: str, other: str) -> None:
    hash_ = await hashers.today.hash(password + ".")

    assert not await hashers.today.verify(password, hash_)
    assert not await hashers.today.verify(f"{password}.{other}", hash_)


@pytest.mark.parametrize(
    ("password", "other"),
    [
        ("Correct horse", "correct horse"),
        ("correct horse", "correct horse "),
        ("correct horse", " correct horse"),
        ("correct\0horse", "correct\0donkey"),
        ("x" * 100_000, "x" * 99_999),
        ("\u212bngstrom 5", "\uff41ngstrom 5"),
    ],
    ids=["case", "blank after", "blank before", "after a NUL", "very long", "another letter"],
)
async def test_password_is_not_truncated_or_case_folded(
    hashers: Hashers, password: str, other: str
) -> None:
    hash_ = await hashers.today.hash(password)

    assert await hashers.today.verify(password, hash_)
    assert not await hashers.today.verify(other, hash_)


@pytest.mark.parametrize(
    ("stored", "typed"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)], ids=["nfc", "nfd"]
)
async def test_password_in_another_unicode_form_verifies(
    hashers: Hashers, stored: str, typed: str
) -> None:
    hash_ = await hashers.today.hash(stored)

    assert await hashers.today.verify(typed, hash_)


async def test_password_hash_is_salted(hashers: Hashers) -> None:
    one, two = [await hashers.today.hash("correct horse") for _ in range(2)]

    assert one != two
    assert await hashers.today.verify("correct horse", one)
    assert await hashers.today.verify("correct horse", two)


async def test_missing_hash_verifies_no_password(hashers: Hashers) -> None:
    for password in ("correct horse", ""):
        assert not await hashers.today.verify(password, None)


async def test_hash_with_other_parameters_verifies_and_is_outdated(
    hashers: Hashers,
) -> None:
    fresh = await hashers.today.hash("correct horse")
    old = await hashers.before.hash("correct horse")

    assert not hashers.today.is_outdated(fresh)
    assert hashers.today.is_outdated(old)
    assert await hashers.today.verify("correct horse", old)
    assert not await hashers.today.verify("wrong horse", old)


@TEXT_OF_ALL_KINDS
@given(hash_=st.text(st.characters()))
async def test_invalid_hash_verifies_nothing_and_is_outdated(hashers: Hashers, hash_: str) -> None:
    assert not await hashers.today.verify("correct horse", hash_)
    assert hashers.today.is_outdated(hash_)


@TEXT_OF_ALL_KINDS
async def test_damaged_hash_verifies_nothing(hashers: Hashers) -> None:
    hash_ = await hashers.today.hash("correct horse")

    for damaged in ("", hash_[1:], hash_[:-1], hash_ + "\0", hash_ + "x", " " + hash_):
        assert not await hashers.today.verify("correct horse", damaged), damaged
