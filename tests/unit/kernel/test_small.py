"""Times, identifiers, representations and errors."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated

import pytest
from hypothesis import given, strategies as st
from msgspec import UNSET, UnsetType

from phoneprov_core.kernel.errors import NotFound, TooManyAttempts, already_taken, require
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.values import known_id, millis, timestamp

moments = st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(moments)
def test_timestamp_has_milliseconds_and_z(moment: datetime) -> None:
    text = timestamp(moment)

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    read = datetime.fromisoformat(text)
    assert timedelta() <= moment - read < timedelta(milliseconds=1)


@given(moments, moments)
def test_timestamps_sort_by_time(one: datetime, other: datetime) -> None:
    if one <= other:
        assert timestamp(one) <= timestamp(other)
        assert millis(one) <= millis(other)


def test_timestamp_is_in_utc() -> None:
    paris = timezone(timedelta(hours=1))

    assert timestamp(datetime(2026, 1, 31, 0, 15, 30, 250_999, paris)) == "2026-01-30T23:15:30.250Z"
    assert timestamp(datetime(2026, 1, 31, tzinfo=UTC)) == "2026-01-31T00:00:00.000Z"
    assert millis(datetime(1970, 1, 1, 1, 0, 1, 500_000, paris)) == 1500


@given(st.uuids())
def test_uuid_is_parsed_in_any_case(uuid: object) -> None:
    assert known_id(str(uuid)) == known_id(str(uuid).upper()) == str(uuid)


@given(st.none() | st.text())
def test_identifier_that_is_no_uuid_is_not_found(text: str | None) -> None:
    assert known_id(text) == ""


class Account(Redacted, frozen=True):
    name: str
    password: Annotated[str | UnsetType | None, SECRET]
    pin: Annotated[str | None, SECRET] = None


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        (Account("ada", "secret"), "Account(name='ada', password=***, pin=None)"),
        (Account("ada", None), "Account(name='ada', password=None, pin=None)"),
        (Account("ada", UNSET, "12"), "Account(name='ada', password=UNSET, pin=***)"),
        (Account("ada", ""), "Account(name='ada', password=***, pin=None)"),
    ],
)
def test_secrets_are_in_no_representation(account: Account, expected: str) -> None:
    assert repr(account) == expected


def test_found_returns_the_record_or_raises_not_found() -> None:
    assert require("record", "phone") == "record"
    assert require(True, "phone") is True
    for nothing in (None, False):
        with pytest.raises(NotFound, match=r"^There is no such phone\.$"):
            require(nothing, "phone")


def test_value_in_use_names_its_field() -> None:
    conflict = already_taken("e-mail address", "email")

    assert conflict.code == "already_exists"
    assert conflict.message == "This e-mail address is already in use."
    assert [problem.field for problem in conflict.problems] == ["email"]


def test_errors_have_message_code_and_retry_after() -> None:
    error = TooManyAttempts("Try again later.", retry_after=30)

    assert (str(error), error.code, error.retry_after) == (
        "Try again later.",
        "too_many_attempts",
        30,
    )
    assert NotFound("gone", code="special").code == "special"
