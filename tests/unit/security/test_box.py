"""Encrypted secrets: valid ones, and every invalid one."""

import traceback

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from phoneprov_adapters.security.crypto import Sealed, SecretBox
from phoneprov_core.kernel.errors import Unavailable, WrongKey
from support.keys import BOTH_KEYS, NEW_KEYS, OLD_KEYS

PLACE = "extensions|password|5f0c3c66-6c53-4b0e-9d0c-1f2f6a1f7d10"
BOX = SecretBox(BOTH_KEYS)


@given(plaintext=st.binary(max_size=200), place=st.text())
def test_secret_is_decrypted_at_its_place(plaintext: bytes, place: str) -> None:
    assert BOX.open(BOX.seal(plaintext, place), place) == plaintext


@given(place=st.text(), other=st.text())
def test_secret_at_another_place_is_not_decrypted(place: str, other: str) -> None:
    sealed = BOX.seal(b"1234", place)
    if place == other:
        assert BOX.open(sealed, other) == b"1234"
    else:
        with pytest.raises(WrongKey):
            BOX.open(sealed, other)


@given(
    plaintext=st.binary(max_size=50),
    position=st.integers(0, 77),
    change=st.integers(1, 255),
)
def test_altered_secret_is_not_decrypted(plaintext: bytes, position: int, change: int) -> None:
    sealed = BOX.seal(plaintext, PLACE)
    altered = bytearray(sealed.data)
    altered[position % len(altered)] ^= change

    with pytest.raises(WrongKey):
        BOX.open(replace(sealed, data=bytes(altered)), PLACE)


def test_shortened_or_extended_secret_is_not_decrypted() -> None:
    sealed = BOX.seal(b"1234", PLACE)

    for data in [sealed.data[:length] for length in range(len(sealed.data))] + [sealed.data + b"x"]:
        with pytest.raises(WrongKey):
            BOX.open(replace(sealed, data=data), PLACE)


def test_secret_under_an_older_key_is_decrypted_and_outdated() -> None:
    sealed = SecretBox(OLD_KEYS).seal(b"1234", PLACE)

    assert BOX.open(sealed, PLACE) == b"1234"
    assert BOX.seal(b"1234", PLACE).key_id == NEW_KEYS.current.id


@pytest.mark.parametrize("key_id", ["", "0" * 16, "\ud800", OLD_KEYS.current.id])
def test_secret_of_another_key_is_not_decrypted(key_id: str) -> None:
    sealed = replace(BOX.seal(b"1234", PLACE), key_id=key_id)

    with pytest.raises(WrongKey):
        SecretBox(NEW_KEYS).open(sealed, PLACE)
    with pytest.raises(WrongKey):
        BOX.open(sealed, PLACE)


def test_secret_encrypted_twice_has_different_ciphertexts() -> None:
    sealed = [BOX.seal(b"1234", PLACE) for _ in range(1000)]

    assert len({one.data[:12] for one in sealed}) == 1000
    assert len({one.data[12:] for one in sealed}) == 1000
    assert not any(b"1234" in one.data for one in sealed)


def test_secrets_of_an_earlier_release_decrypt() -> None:
    sealed = Sealed(
        "7787e2447d780e47",
        bytes.fromhex(
            "5305fdc09bb43309c49309eb09b72008258ef99409ad3682a73bc05073b0575a923e72bccea38745d42e"
        ),
    )

    assert BOX.open(sealed, PLACE) == b"kept for years"


def test_error_is_unavailable_and_names_the_place_without_secrets() -> None:
    sealed = SecretBox(OLD_KEYS).seal(b"very secret", PLACE)

    with pytest.raises(Unavailable) as caught:
        SecretBox(NEW_KEYS).open(sealed, PLACE)

    assert isinstance(caught.value, WrongKey)
    assert caught.value.code == "wrong_key"
    assert "PHONEPROV_SECRET_KEYS" in caught.value.message
    assert PLACE not in caught.value.message
    trace = "".join(traceback.format_exception(caught.value))
    assert PLACE in trace
    assert "very secret" not in trace
    assert repr(sealed.data)[2:-1] not in trace
