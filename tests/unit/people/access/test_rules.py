"""The access rules."""

import pytest

from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.access import (
    LastSuperadmin,
    SharedWrite,
    may_act_for,
    require_owner,
    require_shared_write,
    require_superadmin,
)

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
