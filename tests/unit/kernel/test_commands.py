"""Commands: one check, every invalid field named, no early access to input."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import (
    NO_RULES,
    applied,
    command_of,
    filled,
    invalid,
    obey,
    record_of,
)
from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_core.kernel.fields import Check, Line
from support.example_commands import UUID, Desk, DeskPatch, NewDesk


def problems(command: type[Any], given: dict[str, Any], rules: Any = NO_RULES) -> dict[str, str]:
    """The invalid fields of an input, with their messages."""
    with pytest.raises(Invalid) as error:
        command_of(command, given, rules)
    named = [problem.field for problem in error.value.problems]
    assert len(named) == len(set(named)), "a field is named once"
    return {problem.field: problem.message for problem in error.value.problems}


# A command that exists is valid


def test_command_values_become_canonical() -> None:
    desk = NewDesk(mac="001b.d412.3456", name="Zoe\u0308", tags=("e\u0301",))

    assert (desk.mac, desk.name, desk.tags) == ("00:1B:D4:12:34:56", "Zo\u00eb", ("\u00e9",))


def test_command_names_every_invalid_field_and_the_first_in_its_message() -> None:
    with pytest.raises(Invalid) as error:
        NewDesk(mac="nonsense", name="", floor=-1, description="\x00")

    assert [problem.field for problem in error.value.problems] == [
        "mac",
        "name",
        "description",
        "floor",
    ]
    assert error.value.message.startswith("The field mac must have 12 hexadecimal digits")
    assert error.value.message.endswith("(and 3 more).")


def test_message_of_one_invalid_field_names_it_only() -> None:
    error = invalid([Problem("name", "must not be empty")])

    assert error.message == "The field name must not be empty."
    assert error.code == "invalid"


def test_null_and_absent_values_are_not_checked() -> None:
    patch = DeskPatch(description=None, owner=None)

    assert (patch.name, patch.description, patch.owner) == (UNSET, None, None)


# Input of callers


def test_valid_body_becomes_a_command() -> None:
    body = {"mac": "00-1b-d4-12-34-56", "name": "Front", "floor": 3, "tags": ["a"]}

    desk = command_of(NewDesk, body)

    assert desk == NewDesk(mac="00:1B:D4:12:34:56", name="Front", floor=3, tags=("a",))


def test_body_every_invalid_field_is_named() -> None:
    body = {"mac": "x", "name": 5, "floor": "1", "is_active": 1, "colour": "red", "tags": [""]}

    assert problems(NewDesk, body) == {
        "mac": "must have 12 hexadecimal digits, like 00:1B:D4:12:34:56",
        "name": "must be text",
        "floor": "must be a whole number",
        "is_active": "must be true or false",
        "colour": "is not a field of this request",
        "tags": "must not be empty",
    }


def test_body_missing_required_fields_are_named() -> None:
    assert problems(NewDesk, {}) == {"mac": "is required", "name": "is required"}


def test_null_is_accepted_for_nullable_fields_only() -> None:
    assert command_of(DeskPatch, {"description": None}) == DeskPatch(description=None)
    assert problems(DeskPatch, {"name": None}) == {"name": "must be text"}
    assert problems(DeskPatch, {"description": 1}) == {"description": "must be text or null"}


def test_absent_differs_from_null() -> None:
    patch = command_of(DeskPatch, {})

    assert (patch.name, patch.description) == (UNSET, UNSET)


def test_integer_with_decimal_point_is_accepted() -> None:
    body = {"mac": "001bd4123456", "name": "x", "floor": 2.0}

    floor = command_of(NewDesk, body).floor

    assert (floor, type(floor)) == (2, int)
    for value in (2.5, 1e300, float("inf"), float("nan"), "2.0", -1.0):
        assert set(problems(NewDesk, {**body, "floor": value})) == {"floor"}
    assert set(problems(NewDesk, {**body, "name": 2.0, "is_active": 1.0})) == {
        "name",
        "is_active",
    }


# Rules of the use case


def _short(value: str) -> str:
    if len(value) > 5:
        raise ValueError("must be short")
    return value


RULES = {"name": _short}


def test_use_case_rule_applies_to_bodies_and_commands() -> None:
    long = NewDesk(mac="001bd4123456", name="too long")

    with pytest.raises(Invalid, match="must be short"):
        obey(RULES, long)
    assert problems(NewDesk, {"mac": "001bd4123456", "name": "too long"}, RULES) == {
        "name": "must be short"
    }


def test_use_case_rule_is_reported_with_every_other_problem() -> None:
    assert problems(NewDesk, {"mac": "x", "name": "too long"}, RULES) == {
        "mac": "must have 12 hexadecimal digits, like 00:1B:D4:12:34:56",
        "name": "must be short",
    }
    assert set(problems(NewDesk, {"name": "too long", "x": 1}, RULES)) == {
        "mac",
        "name",
        "x",
    }


@pytest.mark.parametrize("mac", ["001bd4123456", "x", 7])
def test_use_case_rule_skips_an_invalid_field(mac: object) -> None:
    found = problems(NewDesk, {"mac": mac, "name": "n" * 10_000}, {"name": _never})

    assert "name" in found


def test_rules_skip_absent_and_null_fields() -> None:
    never: dict[str, Any] = {"name": _never, "description": _never}

    obey(never, DeskPatch(description=None))
    assert command_of(DeskPatch, {"description": None}, never).name is UNSET


def _never(value: object) -> object:
    raise AssertionError(f"asked about {value!r}")


# Applying a change


def test_patch_changes_only_set_fields() -> None:
    desk = Desk(UUID, "m", "Front", "by the door", "then")

    assert applied(desk, DeskPatch()) == desk
    assert applied(desk, DeskPatch(name="Back")).description == "by the door"
    changed = applied(desk, DeskPatch(description=None), created_at="now")
    assert changed == Desk(UUID, "m", "Front", None, "now")


def test_record_has_fields_of_its_command_and_more_and_null_for_the_rest() -> None:
    new = NewDesk(mac="001bd4123456", name="Front", description="by the door")

    made = record_of(Desk, new, uuid=UUID, name="Back", created_at="now")
    assert made == Desk(UUID, "00:1B:D4:12:34:56", "Back", "by the door", "now")
    assert filled(Desk, uuid=UUID, mac="m", name="n", created_at="now").description is None
    with pytest.raises(TypeError, match="created_at"):
        record_of(Desk, new, uuid=UUID)


# Messages


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str, "text"),
        (int, "a whole number"),
        (bool, "true or false"),
        (str | None, "text or null"),
        (Line | UnsetType | None, "text or null"),
        (tuple[str, ...], "a list of text"),
        (Literal["SCCP", "SIP"], "one of SCCP, SIP"),
        (Annotated[Literal["SIP", ""], Check(str)] | None, "one of SIP or null"),
    ],
)
def test_message_names_the_expected_type(annotation: Any, words: str) -> None:
    command = type("Command", (Struct,), {"__annotations__": {"field": annotation}})

    assert problems(command, {"field": 1.5}) == {"field": f"must be {words}"}
