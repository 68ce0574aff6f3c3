"""Accounts as commands, and equal names."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.users.model import CreateUser

FIELDS: dict[str, Any] = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "username": "ada",
    "email": "ada@example.com",
    "password": "correct horse battery",
}


def test_account_has_defaults() -> None:
    new = CreateUser(**FIELDS)

    assert (new.lang, new.timezone, new.is_active) == ("en", "UTC", True)
    assert (new.phone, new.location, new.nationality) == (None, None, None)


def test_account_every_invalid_field_is_named() -> None:
    with pytest.raises(Invalid) as error:
        CreateUser(
            first_name="",
            last_name=" ",
            username="a\nb",
            email="unknown",
            password="x",
            lang="?",
            timezone="Mars/Olympus",
            phone="x" * 256,
        )

    assert {problem.field for problem in error.value.problems} == {
        "first_name", "last_name", "username", "email", "lang", "timezone", "phone",
    }  # fmt: skip


@given(st.text())
def test_username_comparison_ignores_case(name: str) -> None:
    assert caseless(name) == caseless(name.casefold()) == caseless(caseless(name))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada", "aDA"),
        ("stra\u00dfe", "STRASSE"),
        ("Zo\u00eb", "ZOE\u0308"),
        ("\u03c3\u03c2", "\u03a3\u03a3"),
        ("\u0390", "\u1fd3"),
    ],
)
def test_usernames_of_equal_form_are_the_same(one: str, other: str) -> None:
    assert caseless(one) == caseless(other)


@pytest.mark.parametrize(("one", "other"), [("ada", "ada "), ("zoe", "zo\u00eb"), ("a", "b")])
def test_usernames_of_different_form_are_different(one: str, other: str) -> None:
    assert caseless(one) != caseless(other)
