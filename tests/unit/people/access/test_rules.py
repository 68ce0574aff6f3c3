"""The access rules."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.actor import (
    Actor,
    LevelRule,
    SharedWrite,
    may_act_for,
    may_see_people,
    may_write_shared,
    require_owner,
    require_shared_write,
    require_superadmin,
)
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.access import LastSuperadmin, covers, is_at, is_within, require_at
from support.phone_records import a_phone

STRICT, HIERARCHICAL = LevelRule.STRICT, LevelRule.HIERARCHICAL

SUPERADMINS = [
    Actor("root", 0, level_rule=STRICT),
    Actor("root", 0, level_rule=HIERARCHICAL),
    Actor("root", 7, level_rule=HIERARCHICAL),
]
OTHERS = [
    Actor("ada", None, level_rule=STRICT),
    Actor("ada", None, level_rule=HIERARCHICAL),
    Actor("ada", 1, level_rule=STRICT),
]


@pytest.mark.parametrize("actor", SUPERADMINS)
def test_level_0_is_allowed_every_action(actor: Actor) -> None:
    require_superadmin(actor)
    require_owner(actor, "another")
    for rule in SharedWrite:
        require_shared_write(actor, rule)
    assert may_act_for(actor, "another")


@pytest.mark.parametrize("actor", OTHERS)
def test_other_levels_act_on_own_records_only(actor: Actor) -> None:
    require_owner(actor, "ada")
    assert may_act_for(actor, "ada")
    assert not may_act_for(actor, "another")
    for what in ("another", ""):
        with pytest.raises(Forbidden):
            require_owner(actor, what)
    with pytest.raises(Forbidden):
        require_superadmin(actor)


@pytest.mark.parametrize("actor", OTHERS)
def test_shared_records_are_written_by_level_0_unless_shared(actor: Actor) -> None:
    require_shared_write(actor, SharedWrite.BEARER)
    with pytest.raises(Forbidden):
        require_shared_write(actor, SharedWrite.SUPERADMIN)


def test_last_superadmin_error_names_the_remedy() -> None:
    conflict = LastSuperadmin()

    assert conflict.code == "last_superadmin"
    assert "give level 0 to another first" in conflict.message


PARTS = st.sampled_from(["Berlin", "berlin ", "3", "30", "Straße", "STRASSE", "ü", "u\u0308"])
PLACES = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
LEVELS = st.none() | st.integers(0, 9)
RULES = st.sampled_from(LevelRule)


@given(PLACES | st.none(), st.lists(PLACES, max_size=3), LEVELS, RULES)
def test_right_reaches_phones_in_its_scope_and_level_0_every_phone(
    location: str | None, scope: list[str], level: int | None, rule: LevelRule
) -> None:
    phone, before = a_phone(1, location=location), Actor("ada", level, level_rule=rule)
    actor = before.having("helpdesk", tuple(scope))

    if before.holds(0):
        assert actor == before  # level 0 is more than any right
        assert is_at(actor, phone)
        return
    assert is_at(actor, phone) == (not scope or any(is_within(location, one) for one in scope))
    assert not is_at(before, phone)
    assert (may_see_people(actor), may_see_people(before)) == (True, False)
    assert not may_act_for(actor, "bob")
    assert not may_write_shared(actor, SharedWrite.BEARER)
    if not is_at(actor, phone):
        with pytest.raises(Forbidden, match="helpdesk for"):
            require_at(actor, phone)
    with pytest.raises(Forbidden):
        require_superadmin(actor)


@given(PLACES, PLACES, PLACES)
def test_scope_includes_what_lies_within_and_grows_with_each_location(
    name: str, below: str, other: str
) -> None:
    assert covers([name], f"{name}/{below}")
    assert covers([name.upper()], name.casefold())
    assert covers([name, other], name)
    assert not covers([f"{name}/{below}"], name)
    assert not covers([name], None)
    assert not covers([name], name + "0")
