"""Valid extensions, and their hidden fields."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import UNSET

from phoneprov_core.inventory.extensions import CreateExtension, ExtensionPatch
from phoneprov_core.kernel.errors import Invalid

GOOD: dict[str, Any] = {
    "type": "custom",
    "extension": "1001",
    "name": "Desk",
    "password": "line secret",
}
PRINTABLE = st.characters(exclude_categories=["Cc", "Cs"])


def problems_of(**fields: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as invalid:
        CreateExtension(**{**GOOD, **fields})
    return {problem.field: problem.message for problem in invalid.value.problems}


@given(st.text(PRINTABLE, min_size=1, max_size=80))
def test_password_without_control_characters_is_accepted(text: str) -> None:
    # In Unicode's form NFC one character may become up to three.
    assert CreateExtension(**{**GOOD, "password": text}).password


@pytest.mark.parametrize("password", [" ", "x" * 255, "\u00a0", "pass w\u00f6rd"])
def test_password_is_stored_unchanged(password: str) -> None:
    assert CreateExtension(**{**GOOD, "password": password}).password == password


@pytest.mark.parametrize("password", ["", "x" * 256, "a\x00", "\n", "\t", "\x7f", "\x9b"])
def test_password_invalid_is_refused_without_its_value(password: str) -> None:
    problems = problems_of(password=password)

    assert set(problems) == {"password"}
    assert not password or password not in problems["password"]


def test_every_invalid_field_is_named() -> None:
    problems = problems_of(type="SIP", extension="#/1", name="", password="")

    assert set(problems) == {"type", "extension", "name", "password"}


def test_password_null_in_an_update_is_absent() -> None:
    assert ExtensionPatch(password=None).password is UNSET
    assert ExtensionPatch().password is UNSET
    assert ExtensionPatch(password="x").password == "x"
    assert ExtensionPatch(voicemail_passcode=None).voicemail_passcode is None
