"""Any sequence of transactions leaves a database in the state of a model of plain dicts."""

import asyncio
import copy
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import PhoneprovError
from support.phone_records import a_profile
from support.records import (
    a_link,
    a_permission,
    a_personal_contact,
    a_user,
    an_extension,
    identifier,
    moment,
)
from support.store_model import Model, Real
from support.stores import DATABASES

Opening: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Database]]
"""An open, empty database whose files, if it has any, are in the folder."""


class _Step(NamedTuple):
    name: str
    arguments: tuple[Any, ...]


numbers = st.integers(1, 4)
ids = numbers.map(identifier)
moments = st.integers(1, 3).map(moment)
users = st.builds(
    lambda number, name, active, created: a_user(
        number, username=name, is_active=active, created_at=created
    ),
    numbers,
    st.sampled_from(["ada", "ADA", "bob", "cleo", "stra\u00dfe", "STRASSE"]),
    st.booleans(),
    moments,
)
permissions = st.builds(
    lambda number, level, name: a_permission(number, level=level, name=name),
    numbers,
    st.integers(0, 2),
    st.sampled_from(["one", "two"]),
)
profiles = st.builds(
    lambda number, owner, name, created: a_profile(number, owner, name=name, created_at=created),
    numbers,
    ids,
    st.sampled_from(["<a/>", "<b>\u00e9</b>"]),
    moments,
)
contacts = st.builds(
    lambda number, owner, created: a_personal_contact(number, owner, created_at=created),
    numbers,
    ids,
    moments,
)
extensions = st.builds(
    lambda number, line, created: an_extension(
        number, extension=f"20{line}", password="fallen leaves", created_at=created
    ),
    numbers,
    numbers,
    moments,
)
links = st.builds(a_link, numbers, ids, ids)
owners = st.none() | ids


def _step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[_Step]:
    return st.tuples(*arguments).map(lambda drawn: _Step(name, drawn))


steps = st.one_of(
    _step("add_user", users),
    _step("put_user", users),
    _step("remove_user", ids),
    _step("by_username", st.sampled_from(["Ada", "BOB", "strasse", "unknown"])),
    _step("add_permission", permissions),
    _step("remove_permission", ids),
    _step("assign", ids, ids),
    _step("unassign", ids),
    _step("level_of", ids),
    _step("another_superadmin", ids, st.sampled_from(LevelRule)),
    _step("add_profile", profiles),
    _step("put_profile", profiles),
    _step("remove_profile", ids),
    _step("add_contact", contacts),
    _step("remove_contact", ids),
    _step("add_extension", extensions),
    _step("put_extension", extensions),
    _step("remove_extension", ids),
    _step("add_link", links),
    _step("remove_link", ids),
    _step("list_contacts", owners),
    _step("list_links", owners),
    _step("list_users", st.integers(1, 5), st.integers(0, 2), st.none() | users),
    _step("list_profiles", owners),
    _step("count_profiles", owners),
)


class _TakenBack(Exception):
    pass


class _Machine(RuleBasedStateMachine):
    """Transactions of a few steps, some of which are rolled back at their end."""

    opening: Opening

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.runner = asyncio.Runner()
        self.left = AsyncExitStack()
        folder = Path(self.left.enter_context(tempfile.TemporaryDirectory()))
        self.database: Database = self.runner.run(
            self.left.enter_async_context(self.opening(folder))
        )
        # Two users and a permission at the start, so that most steps find a record.
        self.runner.run(self._transaction(_BEGINNING, False))

    @rule(steps=st.lists(steps, min_size=1, max_size=6), take_back=st.booleans())
    def transaction(self, steps: list[_Step], take_back: bool) -> None:
        self.runner.run(self._transaction(steps, take_back))

    async def _transaction(self, steps: list[_Step], take_back: bool) -> None:
        trial = copy.deepcopy(self.model)
        due: PhoneprovError | None = None
        raised: PhoneprovError | None = None
        try:
            async with self.database.write() as tx:
                for step in steps:
                    due = await _compare(step, trial, Real(tx))
                    if due is not None:
                        break
                if take_back:
                    raise _TakenBack
        except _TakenBack:
            return
        except PhoneprovError as error:
            raised = error
        if due is not None:
            assert raised is not None, "the error of the last step is missing"
            assert (type(raised), raised.code) == (type(due), due.code)
        if raised is None:
            self.model = trial

    @invariant()
    def a_reader_sees_what_the_model_holds(self) -> None:
        self.runner.run(self._compare_all())

    async def _compare_all(self) -> None:
        async with self.database.read() as tx:
            real = Real(tx)
            assert await real.list_users(100, 0, None) == self.model.list_users(100, 0, None)
            for owner in (None, *map(identifier, range(1, 5))):
                assert await real.list_profiles(owner) == self.model.list_profiles(owner)
                assert await real.list_contacts(owner) == self.model.list_contacts(owner)
                assert await real.list_links(owner) == self.model.list_links(owner)
            assert await real.list_extensions() == self.model.list_extensions()
            for user in map(identifier, range(1, 5)):
                assert await real.level_of(user) == self.model.level_of(user)

    def teardown(self) -> None:
        self.runner.run(self.left.aclose())
        self.runner.close()


_BEGINNING = [
    _Step("add_user", (a_user(1, username="ada"),)),
    _Step("add_user", (a_user(2, username="bob"),)),
    _Step("add_permission", (a_permission(1, level=0),)),
    _Step("assign", (identifier(1), identifier(1))),
    _Step("add_profile", (a_profile(1, identifier(1)),)),
    _Step("add_contact", (a_personal_contact(1, identifier(1)),)),
    _Step("add_extension", (an_extension(1, extension="201"),)),
    _Step("add_link", (a_link(1, identifier(1), identifier(1)),)),
]


async def _compare(step: _Step, model: Model, real: Real) -> PhoneprovError | None:
    """Do a step in both; both return the same or fail alike, and then the error is raised. Returns
    the error of an addition that was not raised yet: the end of the transaction must raise it."""
    expected: Any = None
    error: PhoneprovError | None = None
    raised: PhoneprovError | None = None
    do: Callable[..., Any] = getattr(model, step.name)
    try:
        expected = do(*step.arguments)
    except PhoneprovError as modelled:
        error = modelled
    answer: Any = None
    try:
        answer = await getattr(real, step.name)(*step.arguments)
    except PhoneprovError as real_error:
        raised = real_error
    if raised is None and error is not None and step.name.startswith("add_"):
        return error
    assert type(raised) is type(error), (step, raised, error)
    if raised is not None and error is not None:
        assert raised.code == error.code, step
        raise raised
    assert answer == expected, step
    return None


@pytest.mark.parametrize("opening", DATABASES.values(), ids=DATABASES)
def test_any_sequence_of_transactions_leaves_the_state_of_the_model(opening: Opening) -> None:
    machine = type("Machine", (_Machine,), {"opening": staticmethod(opening)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
