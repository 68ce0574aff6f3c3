"""Request bodies: one DTO, every invalid field named, read records accepted as bodies."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from litestar import Litestar, Router, post, put
from litestar.exceptions import ImproperlyConfiguredException
from litestar.params import FromPath, JSONBody
from litestar.testing import TestClient

from phoneprov_core.kernel.commands import Command, Rules
from phoneprov_core.kernel.errors import Invalid, PhoneprovError, Problem
from phoneprov_http.bodies import RULES, Body, collected
from phoneprov_http.envelope import Envelope, EnvelopeResponse, record
from phoneprov_http.errors import on_phoneprov_error
from support.example_commands import UUID, Desk, DeskPatch, NewDesk

MAC = "00:1B:D4:12:34:56"


READ = Desk(UUID, MAC, "Front", None, "2026-01-31T08:15:30.250Z")


def _short(value: str) -> str:
    if len(value) > 5:
        raise ValueError("must be short")
    return value


def _rules() -> Rules:
    return {"name": _short}


class Desks:
    """An application with two handlers; ``seen`` has the commands that they received."""

    def __init__(self) -> None:
        self.seen: list[Command] = []

        @post("/desks", opt={RULES: _rules})
        async def create(data: JSONBody[NewDesk]) -> Envelope[Desk]:
            self.seen.append(data)
            return record("Desk created", READ)

        @put("/desks/{mac:str}")
        async def update(mac: FromPath[str], data: JSONBody[DeskPatch]) -> Envelope[Desk]:
            self.seen.append(data)
            return record("Desk updated", READ)

        routes = Router("/", route_handlers=[create, update], dto=Body, return_dto=None)
        self.client = TestClient(
            Litestar(
                [routes],
                response_class=EnvelopeResponse,
                exception_handlers={PhoneprovError: on_phoneprov_error},
                logging_config=None,
                openapi_config=None,
            )
        )

    def put(self, body: Any, path: str = f"/desks/{MAC}") -> dict[str, str]:
        """The problems of a change."""
        return self._problems(self.client.put(path, content=msgspec.json.encode(body)).json())

    def post(self, body: Any) -> dict[str, str]:
        """The problems of a creation."""
        return self._problems(self.client.post("/desks", json=body).json())

    @staticmethod
    def _problems(envelope: Any) -> dict[str, str]:
        details = envelope.get("error", {}).get("details", [])
        return {problem["field"]: problem["message"] for problem in details}


@pytest.fixture
def desks() -> Desks:
    return Desks()


def test_valid_body_becomes_command_in_canonical_form(desks: Desks) -> None:
    assert desks.post({"mac": "001b.d412.3456", "name": "Front", "floor": 2.0}) == {}

    assert desks.seen == [NewDesk(mac=MAC, name="Front", floor=2)]


def test_every_invalid_field_is_named(desks: Desks) -> None:
    body = {"mac": "x", "name": "too long", "floor": "1", "colour": "red", "tags": [""]}

    assert desks.post(body) == {
        "mac": "must have 12 hexadecimal digits, like 00:1B:D4:12:34:56",
        "name": "must be short",  # a rule of the use case
        "floor": "must be a whole number",
        "colour": "is not a field of this request",
        "tags": "must not be empty",
    }
    assert desks.post({}) == {"mac": "is required", "name": "is required"}
    assert desks.seen == []


def test_null_for_a_required_field_is_refused(desks: Desks) -> None:
    assert desks.put({"name": None}) == {"name": "must be text"}
    assert desks.put({"description": None}) == {}
    assert desks.seen == [DeskPatch(description=None)]


def test_record_as_read_is_accepted(desks: Desks) -> None:
    assert desks.put(msgspec.to_builtins(READ)) == {}
    assert desks.put({"created_at": [1]}) == {}

    assert desks.seen == [DeskPatch(name="Front", description=None), DeskPatch()]


def test_unknown_field_beside_read_only_ones_is_refused(desks: Desks) -> None:
    body = {"created_at": 1, "is_admin": True}

    assert desks.put(body) == {"is_admin": "is not a field of this request"}


def test_read_only_fields_are_refused_in_post(desks: Desks) -> None:
    body = {"mac": MAC, "name": "Front", "updated_at": "now"}

    assert desks.post(body) == {"updated_at": "is not a field of this request"}


def test_created_at_is_ignored_in_post(desks: Desks) -> None:
    assert desks.post({"mac": MAC, "name": "Front", "created_at": [1]}) == {}

    assert desks.seen == [NewDesk(mac=MAC, name="Front")]


def test_empty_text_is_null_where_null_is_allowed(desks: Desks) -> None:
    assert desks.put({"description": ""}) == {}
    assert desks.seen == [DeskPatch(description=None)]
    assert set(desks.put({"name": ""})) == {"name"}


@pytest.mark.parametrize("mac", [MAC, "001bd4123456", "001B.D412.3456", "00-1b-d4-12-34-56"])
def test_identifier_in_body_agrees_in_any_notation(desks: Desks, mac: str) -> None:
    assert desks.put({"mac": mac}) == {}
    assert desks.put({"mac": MAC}, f"/desks/{mac}") == {}


@pytest.mark.parametrize("mac", ["001bd4123457", None, "", 5, [MAC], "1" * 100])
def test_identifier_in_body_must_agree_with_path(desks: Desks, mac: object) -> None:
    assert desks.put({"mac": mac, "name": ""}) == {
        "mac": "must agree with the record that is addressed",
        "name": "must not be empty",
    }


@pytest.mark.parametrize("body", [None, [], "text", 5, True, [{"name": "x"}]])
def test_body_that_is_no_object_is_refused(desks: Desks, body: object) -> None:
    assert desks.put(body) == {"body": "must be a JSON object"}


def test_handler_without_command_is_refused() -> None:
    @post("/")
    async def handler(data: JSONBody[Desk]) -> None: ...

    with pytest.raises(ImproperlyConfiguredException, match="Desk"):
        Litestar([Router("/", route_handlers=[handler], dto=Body)], openapi_config=None)


names = st.sampled_from(["mac", "name", "description", "floor", "is_active", "tags"]) | st.text()
bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=10,
)


@given(bodies | st.dictionaries(names, bodies))
def test_any_body_becomes_a_command_or_is_refused_with_problems(body: object) -> None:
    for command in (NewDesk, DeskPatch):
        made: Command | None = None
        problems: tuple[Problem, ...] = ()
        try:
            made = collected(command, body, {"mac": MAC}, frozenset(Desk.__struct_fields__))
        except Invalid as error:
            problems = error.problems
        assert isinstance(made, command) or problems
