"""Which passwords are accepted."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.people.users.model import AccountPolicy

POLICY = AccountPolicy(lambda password: password == "password1", shortest=8, longest=20)

characters = st.characters(exclude_categories=["Cc", "Cs"])


@given(st.text(characters, min_size=6, max_size=18).map(lambda text: f"a{text}b"))
def test_password_of_valid_length_is_unchanged(password: str) -> None:
    assert POLICY.rule(password) == password


@given(st.text(characters, max_size=7))
def test_short_password_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match="at least 8 characters"):
        POLICY.rule(password)


@given(st.text(characters, min_size=21, max_size=40))
def test_long_password_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match="at most 20 characters"):
        POLICY.rule(password)


@pytest.mark.parametrize("password", ["with\x00nul..", "with\nbreak", "sur\ud800rogate"])
def test_password_with_control_characters_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match="control characters"):
        POLICY.rule(password)


def test_common_password_is_refused_with_the_reason_without_its_value() -> None:
    with pytest.raises(ValueError, match="most commonly used") as error:
        POLICY.rule("password1")

    assert "password1" not in str(error.value)


def test_password_length_limits_are_8_and_256_by_default() -> None:
    policy = AccountPolicy(lambda _password: False)

    assert policy.rule("xyxyxyxy")
    assert policy.rule("\U0001f4de" * 255 + "x")
    with pytest.raises(ValueError, match="at most 256"):
        policy.rule("x" * 257)
