"""Commands: checked in one place, every bad field named, nothing looked at too early."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import (
    Check,
    Unchecked,
    applied,
    checked,
    invalid,
    peek_id,
    settle,
)
from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_core.kernel.fields import Description, Level, Line, MacAddress, Uuid

UUID = "00000000-0000-4000-8000-00000000000a"


class Desk(Struct, frozen=True):
    """A resource, as it is answered."""

    uuid: str
    mac: str
    name: str
    description: str | None
    created_at: str


class NewDesk(Struct, frozen=True, kw_only=True):
    """What may be written when one is created."""

    mac: MacAddress
    name: Line
    description: Description | None = None
    floor: Level = 0
    is_active: bool = True
    tags: Annotated[tuple[str, ...], Check(values.each(values.required_text, most=2))] = ()

    def __post_init__(self) -> None:
        settle(self)


class DeskPatch(Struct, frozen=True, kw_only=True):
    """What may be written later."""

    name: Line | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    owner: Uuid | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        settle(self)


def sent(command: type[Any], body: object) -> Unchecked[Any]:
    return Unchecked(command, lambda: body)


def problems(command: Any, **more: Any) -> dict[str, str]:
    """The bad fields of what somebody sent, with what is said about them."""
    with pytest.raises(Invalid) as error:
        checked(command, **more)
    named = [problem.field for problem in error.value.problems]
    assert len(named) == len(set(named)), "a field is named once"
    return {problem.field: problem.message for problem in error.value.problems}


# A command that exists is valid


def test_a_command_settles_into_canonical_form() -> None:
    desk = NewDesk(mac="001b.d412.3456", name="Zoe\u0308", tags=("e\u0301",))

    assert (desk.mac, desk.name, desk.tags) == ("00:1B:D4:12:34:56", "Zo\u00eb", ("\u00e9",))


def test_a_command_names_every_bad_field_and_the_first_in_its_sentence() -> None:
    with pytest.raises(Invalid) as error:
        NewDesk(mac="nonsense", name="", floor=-1, description="\x00")

    assert [problem.field for problem in error.value.problems] == [
        "mac",
        "name",
        "description",
        "floor",
    ]
    assert error.value.message.startswith("The field mac must be a MAC address")
    assert error.value.message.endswith("(and 3 more).")


def test_one_bad_field_stands_alone_in_the_sentence() -> None:
    error = invalid([Problem("name", "must not be empty")])

    assert error.message == "The field name must not be empty."
    assert error.code == "invalid"


def test_null_and_absent_values_are_not_checked() -> None:
    patch = DeskPatch(description=None, owner=None)

    assert (patch.name, patch.description, patch.owner) == (UNSET, None, None)


# What somebody sent


def test_a_body_becomes_the_command() -> None:
    body = {"mac": "00-1b-d4-12-34-56", "name": "Front", "floor": 3, "tags": ["a"]}

    desk = checked(sent(NewDesk, body))

    assert desk == NewDesk(mac="00:1B:D4:12:34:56", name="Front", floor=3, tags=("a",))


def test_every_bad_field_is_named_whatever_is_wrong_with_it() -> None:
    body = {"mac": "x", "name": 5, "floor": "1", "is_active": 1, "colour": "red", "tags": [""]}

    assert problems(sent(NewDesk, body)) == {
        "mac": "must be a MAC address of 12 hexadecimal digits, like 00:1B:D4:12:34:56",
        "name": "must be text",
        "floor": "must be a whole number",
        "is_active": "must be true or false",
        "colour": "is not a field of this request",
        "tags": "must not be empty",
    }


def test_required_fields_are_missed() -> None:
    assert problems(sent(NewDesk, {})) == {"mac": "is required", "name": "is required"}


def test_null_is_refused_where_it_may_not_stand_and_kept_where_it_may() -> None:
    assert checked(sent(DeskPatch, {"description": None})) == DeskPatch(description=None)
    assert problems(sent(DeskPatch, {"name": None})) == {"name": "must be text"}
    assert problems(sent(DeskPatch, {"description": 1})) == {"description": "must be text or null"}


def test_absent_is_not_null() -> None:
    patch = checked(sent(DeskPatch, {}))

    assert (patch.name, patch.description) == (UNSET, UNSET)


@pytest.mark.parametrize("body", [None, [], "text", 5, True, [{"name": "x"}]])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    assert problems(sent(DeskPatch, body)) == {"body": "must be a JSON object"}


def test_what_was_read_can_be_sent_back() -> None:
    read = {
        "uuid": UUID,
        "mac": "00:1B:D4:12:34:56",
        "name": "Front",
        "description": None,
        "created_at": "2026-01-31T08:15:30.250Z",
    }

    patch = checked(sent(DeskPatch, read), read_only=Desk, same={"uuid": UUID})

    assert patch == DeskPatch(name="Front", description=None)


def test_read_only_fields_are_ignored_whatever_they_hold() -> None:
    assert checked(sent(DeskPatch, {"created_at": [1]}), read_only=Desk) == DeskPatch()


def test_unknown_fields_are_refused_beside_read_only_ones() -> None:
    assert problems(sent(DeskPatch, {"created_at": 1, "is_admin": True}), read_only=Desk) == {
        "is_admin": "is not a field of this request"
    }


def test_a_whole_number_may_be_written_with_a_point() -> None:
    body = {"mac": "001bd4123456", "name": "x", "floor": 2.0}

    floor = checked(sent(NewDesk, body)).floor

    assert (floor, type(floor)) == (2, int)
    for value in (2.5, 1e300, float("inf"), float("nan"), "2.0", -1.0):
        assert set(problems(sent(NewDesk, {**body, "floor": value}))) == {"floor"}
    assert set(problems(sent(NewDesk, {**body, "name": 2.0, "is_active": 1.0}))) == {
        "name",
        "is_active",
    }


@pytest.mark.parametrize(
    ("sent_value", "same"),
    [
        (UUID, UUID),
        (UUID.upper(), UUID),
        ("001bd4123456", "00:1B:D4:12:34:56"),
        ("001B.D412.3456", "00:1B:D4:12:34:56"),
        (5, 5),
        (5.0, 5),
    ],
)
def test_an_identifier_in_the_body_may_agree(sent_value: object, same: object) -> None:
    assert checked(sent(DeskPatch, {"id": sent_value}), same={"id": same}) == DeskPatch()


@pytest.mark.parametrize(
    ("sent_value", "same"),
    [
        (UUID.replace("a", "b"), UUID),
        (None, UUID),
        ("", UUID),
        (5, UUID),
        ("5", 5),
        (True, 1),
        (1.5, 1),
        ([UUID], UUID),
    ],
)
def test_an_identifier_in_the_body_must_agree(sent_value: object, same: object) -> None:
    body = {"id": sent_value, "name": ""}

    assert problems(sent(DeskPatch, body), same={"id": same}) == {
        "id": "must agree with the record that is addressed",
        "name": "must not be empty",
    }


# Rules that only the use case knows


def _short(value: str) -> str:
    if len(value) > 5:
        raise ValueError("must be short")
    return value


RULES = {"name": _short}


def test_a_rule_of_the_use_case_is_obeyed_either_way() -> None:
    long = NewDesk(mac="001bd4123456", name="too long")

    assert problems(long, rules=RULES) == {"name": "must be short"}
    assert problems(sent(NewDesk, {"mac": "001bd4123456", "name": "too long"}), rules=RULES) == {
        "name": "must be short"
    }


def test_a_rule_of_the_use_case_is_named_beside_every_other_fault() -> None:
    assert problems(sent(NewDesk, {"mac": "x", "name": "too long"}), rules=RULES) == {
        "mac": "must be a MAC address of 12 hexadecimal digits, like 00:1B:D4:12:34:56",
        "name": "must be short",
    }
    assert set(problems(sent(NewDesk, {"name": "too long", "x": 1}), rules=RULES)) == {
        "mac",
        "name",
        "x",
    }


def test_a_rule_is_not_asked_about_what_is_absent_or_null() -> None:
    never: dict[str, Any] = {"name": _never, "description": _never}

    assert checked(DeskPatch(description=None), rules=never) == DeskPatch(description=None)
    assert checked(sent(DeskPatch, {"description": None}), rules=never).name is UNSET


def _never(value: object) -> object:
    raise AssertionError(f"asked about {value!r}")


def test_a_command_that_is_valid_passes_as_it_is() -> None:
    desk = NewDesk(mac="001bd4123456", name="Front")

    assert checked(desk) is desk


# When it is looked at


def test_nothing_is_looked_at_before_it_is_asked_for_and_then_once() -> None:
    calls = []

    def load() -> object:
        calls.append(1)
        return {"name": "Front", "owner": UUID}

    unchecked: Unchecked[DeskPatch] = Unchecked(DeskPatch, load)
    assert calls == []

    assert peek_id(unchecked, "owner") == UUID
    assert checked(unchecked).name == "Front"
    assert calls == [1]


def test_what_cannot_even_be_read_raises_the_wire_s_own_error() -> None:
    def load() -> object:
        raise ConnectionError("cut off")

    with pytest.raises(ConnectionError):
        checked(Unchecked(DeskPatch, load))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"owner": UUID}, UUID),
        ({"owner": UUID.upper()}, UUID),
        ({"owner": "nonsense"}, ""),
        ({"owner": 5}, ""),
        ({"owner": None}, ""),
        ({}, ""),
        ([UUID], ""),
        (None, ""),
    ],
)
def test_an_identifier_is_peeked_at_before_validity(body: object, expected: str) -> None:
    assert peek_id(sent(DeskPatch, body), "owner") == expected


def test_an_identifier_of_a_valid_command_is_peeked_at() -> None:
    assert peek_id(DeskPatch(owner=UUID.upper()), "owner") == UUID
    assert peek_id(DeskPatch(), "owner") == ""


# Applying


def test_a_patch_changes_what_it_sets_and_nothing_else() -> None:
    desk = Desk(UUID, "m", "Front", "by the door", "then")

    assert applied(desk, DeskPatch()) == desk
    assert applied(desk, DeskPatch(name="Back")).description == "by the door"
    changed = applied(desk, DeskPatch(description=None), created_at="now")
    assert changed == Desk(UUID, "m", "Front", None, "now")


# In words


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
def test_what_to_send_instead_is_said_in_words(annotation: Any, words: str) -> None:
    command = type("Command", (Struct,), {"__annotations__": {"field": annotation}})

    assert problems(sent(command, {"field": 1.5})) == {"field": f"must be {words}"}


names = st.sampled_from(["mac", "name", "description", "floor", "is_active", "tags"]) | st.text()
bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=10,
)


@given(bodies | st.dictionaries(names, bodies))
def test_whatever_is_sent_becomes_a_command_or_is_refused(body: object) -> None:
    for command in (NewDesk, DeskPatch):
        result: object = None
        bad: tuple[Problem, ...] = ()
        try:
            result = checked(sent(command, body), read_only=Desk)
        except Invalid as error:
            bad = error.problems
        assert isinstance(result, command) or bad
