"""Any sequence of transactions leaves a database as it leaves plain dicts."""

from __future__ import annotations

import asyncio
import copy
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from phoneprov_core.access.model import Permission
from phoneprov_core.kernel.errors import Conflict, NotFound, PhoneprovError
from phoneprov_core.kernel.levels import LevelRule
from phoneprov_core.profiles.model import Profile
from phoneprov_core.users.model import User
from support.stores import (
    DATABASES,
    Database,
    Stores,
    a_permission,
    a_profile,
    a_user,
    an_assignment,
    identifier,
    moment,
)


class Model:
    """What the stores promise, done the simplest way."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.permissions: dict[str, Permission] = {}
        self.assignments: dict[str, str] = {}
        self.profiles: dict[str, Profile] = {}

    def add_user(self, user: User) -> None:
        self._require_free(user.uuid in self.users)
        self._require_unique(user)
        self.users[user.uuid] = user

    def put_user(self, user: User) -> None:
        self._require(user.uuid in self.users)
        self._require_unique(user)
        self.users[user.uuid] = user

    def _require_unique(self, user: User) -> None:
        others = [other for other in self.users.values() if other.uuid != user.uuid]
        folded = user.username.casefold()
        self._require_free(any(other.username.casefold() == folded for other in others))

    def remove_user(self, uuid: str) -> bool:
        self.assignments.pop(uuid, None)
        self.profiles = {k: p for k, p in self.profiles.items() if p.user_uuid != uuid}
        return self.users.pop(uuid, None) is not None

    def by_username(self, name: str) -> User | None:
        found = [u for u in self.users.values() if u.username.casefold() == name.casefold()]
        return found[0] if found else None

    def add_permission(self, permission: Permission) -> None:
        self._require_free(permission.uuid in self.permissions)
        taken = [(other.level, other.name) for other in self.permissions.values()]
        self._require_free((permission.level, permission.name) in taken)
        self.permissions[permission.uuid] = permission

    def remove_permission(self, uuid: str) -> bool:
        if uuid in self.assignments.values():
            raise Conflict("in use", code="in_use")
        return self.permissions.pop(uuid, None) is not None

    def assign(self, user_uuid: str, perm_uuid: str) -> None:
        self._require(user_uuid in self.users and perm_uuid in self.permissions)
        self.assignments[user_uuid] = perm_uuid

    def unassign(self, user_uuid: str) -> bool:
        return self.assignments.pop(user_uuid, None) is not None

    def level_of(self, user_uuid: str) -> int | None:
        perm_uuid = self.assignments.get(user_uuid)
        return None if perm_uuid is None else self.permissions[perm_uuid].level

    def another_superadmin(self, besides: str, rule_: LevelRule) -> bool:
        return any(
            self.users[user].is_active and rule_.holds(self.level_of(user), 0)
            for user in self.assignments
            if user != besides
        )

    def add_profile(self, profile: Profile) -> None:
        self._require_free(profile.uuid in self.profiles)
        self._require(profile.user_uuid in self.users)
        self.profiles[profile.uuid] = profile

    def put_profile(self, profile: Profile) -> None:
        self._require(profile.uuid in self.profiles and profile.user_uuid in self.users)
        self.profiles[profile.uuid] = profile

    def remove_profile(self, uuid: str) -> bool:
        return self.profiles.pop(uuid, None) is not None

    def list_users(self, limit: int, offset: int, after: User | None) -> list[User]:
        listed = sorted(self.users.values(), key=_position)
        if after is not None:
            listed = [user for user in listed if _position(user) > _position(after)]
        return listed[offset : offset + limit]

    def list_profiles(self, owner: str | None) -> list[Profile]:
        profiles = [p for p in self.profiles.values() if owner in {None, p.user_uuid}]
        return sorted(profiles, key=_position)

    def count_profiles(self, owner: str | None) -> int:
        return len(self.list_profiles(owner))

    @staticmethod
    def _require(there: bool) -> None:
        if not there:
            raise NotFound("gone")

    @staticmethod
    def _require_free(taken: bool) -> None:
        if taken:
            raise Conflict("taken", code="already_exists")


def _position(record: Any) -> tuple[str, str]:
    return record.created_at, record.uuid


class Real:
    """The same words, said to a database."""

    def __init__(self, tx: Stores) -> None:
        self._tx = tx
        self.add_user = tx.users.add
        self.put_user = tx.users.put
        self.remove_user = tx.users.remove
        self.by_username = tx.users.by_username
        self.add_permission = tx.permissions.add
        self.remove_permission = tx.permissions.remove
        self.unassign = tx.assignments.remove
        self.another_superadmin = tx.assignments.another_superadmin
        self.add_profile = tx.profiles.add
        self.put_profile = tx.profiles.put
        self.remove_profile = tx.profiles.remove
        self.count_profiles = tx.profiles.count

    async def assign(self, user_uuid: str, perm_uuid: str) -> None:
        await self._tx.assignments.assign(an_assignment(user_uuid, perm_uuid, int(user_uuid[-2:])))

    async def level_of(self, user_uuid: str) -> int | None:
        assignment = await self._tx.assignments.of_user(user_uuid)
        return None if assignment is None else assignment.level

    async def list_users(self, limit: int, offset: int, after: User | None) -> list[User]:
        return await self._tx.users.rows(limit, offset=offset, after=after)

    async def list_profiles(self, owner: str | None) -> list[Profile]:
        return await self._tx.profiles.rows(1000, owner=owner)


class Step(NamedTuple):
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
    lambda number, owner, xml, created: a_profile(number, owner, cnf_xml=xml, created_at=created),
    numbers,
    ids,
    st.sampled_from(["<a/>", "<b>\u00e9</b>"]),
    moments,
)
owners = st.none() | ids


def _step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(*arguments).map(lambda drawn: Step(name, drawn))


steps = st.one_of(
    _step("add_user", users),
    _step("put_user", users),
    _step("remove_user", ids),
    _step("by_username", st.sampled_from(["Ada", "BOB", "strasse", "nobody"])),
    _step("add_permission", permissions),
    _step("remove_permission", ids),
    _step("assign", ids, ids),
    _step("unassign", ids),
    _step("level_of", ids),
    _step("another_superadmin", ids, st.sampled_from(LevelRule)),
    _step("add_profile", profiles),
    _step("put_profile", profiles),
    _step("remove_profile", ids),
    _step("list_users", st.integers(1, 5), st.integers(0, 2), st.none() | users),
    _step("list_profiles", owners),
    _step("count_profiles", owners),
)


class _TakenBack(Exception):
    pass


class StoresMachine(RuleBasedStateMachine):
    """Transactions of a few steps, some of which are taken back at their end."""

    name: str

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.runner = asyncio.Runner()
        self.left = AsyncExitStack()
        folder = Path(self.left.enter_context(tempfile.TemporaryDirectory()))
        self.database: Database = self.runner.run(
            self.left.enter_async_context(DATABASES[self.name](folder))
        )
        # Two users and a permission to begin with, so that most steps find something.
        self.runner.run(self._transaction(_BEGINNING, False))

    @rule(steps=st.lists(steps, min_size=1, max_size=6), take_back=st.booleans())
    def transaction(self, steps: list[Step], take_back: bool) -> None:
        self.runner.run(self._transaction(steps, take_back))

    async def _transaction(self, steps: list[Step], take_back: bool) -> None:
        trial = copy.deepcopy(self.model)
        try:
            async with self.database.write() as tx:
                for step in steps:
                    await _compare(step, trial, Real(tx))
                if take_back:
                    raise _TakenBack
        except (PhoneprovError, _TakenBack):
            return
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
            for user in map(identifier, range(1, 5)):
                assert await real.level_of(user) == self.model.level_of(user)

    def teardown(self) -> None:
        self.runner.run(self.left.aclose())
        self.runner.close()


_BEGINNING = [
    Step("add_user", (a_user(1, username="ada"),)),
    Step("add_user", (a_user(2, username="bob"),)),
    Step("add_permission", (a_permission(1, level=0),)),
    Step("assign", (identifier(1), identifier(1))),
    Step("add_profile", (a_profile(1, identifier(1)),)),
]


async def _compare(step: Step, model: Model, real: Real) -> None:
    """Do a step in both; they answer the same or fail the same, and then the error goes on."""
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
    assert type(raised) is type(error), (step, raised, error)
    if raised is not None and error is not None:
        assert raised.code == error.code, step
        raise raised
    assert answer == expected, step


@pytest.mark.parametrize("name", sorted(DATABASES))
def test_any_sequence_of_transactions(name: str) -> None:
    machine = type("Machine", (StoresMachine,), {"name": name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
