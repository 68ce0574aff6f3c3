"""Holding a level, under both rules."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.actor import SUPERADMIN, Actor, LevelRule

levels = st.integers(0, 2**31 - 1)
rules = st.sampled_from(LevelRule)


@given(levels, levels)
def test_interface_rule_level_n_holds_0_through_n(assigned: int, required: int) -> None:
    assert LevelRule.HIERARCHICAL.holds(assigned, required) is (required in range(assigned + 1))


@given(levels, levels)
def test_strict_rule_smaller_number_outranks_larger(assigned: int, required: int) -> None:
    assert LevelRule.STRICT.holds(assigned, required) is (assigned <= required)


@given(rules, levels)
def test_rules_without_assignment_hold_nothing(rule: LevelRule, required: int) -> None:
    assert not rule.holds(None, required)


@given(rules, levels)
def test_largest_level_holding_level_0_is_exact(rule: LevelRule, level: int) -> None:
    largest = rule.largest_that_holds_superadmin()

    assert rule.holds(level, SUPERADMIN) is (largest is None or level <= largest)


@pytest.mark.parametrize("rule", LevelRule)
@pytest.mark.parametrize("level", [None, 0, 1, 2])
def test_actor_holds_levels_by_its_rule(rule: LevelRule, level: int | None) -> None:
    actor = Actor("u", level, level_rule=rule)

    assert [actor.holds(n) for n in range(3)] == [rule.holds(level, n) for n in range(3)]
