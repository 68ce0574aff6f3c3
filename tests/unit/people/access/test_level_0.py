"""Use cases that only level 0 may call refuse others first, also without HTTP and its guards."""

import inspect
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from phoneprov_adapters.api import open_in_memory
from phoneprov_core.application import UseCases
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Forbidden

STRANGER = "00000000-0000-4000-8000-000000000001"
REFUSED = {
    "audit": "every newest search",
    "batches": "all cancel get is_watching phones resume start",
    "change_fleet": "adopt replace",
    "desks": "label lock update",
    "discovered_phones": "all",
    "drills": "desks newest run",
    "edit_records": "call",
    "extensions": "all create delete get update",
    "history": "phones",
    "import_text": "call",
    "join_people": "call",
    "leave_people": "call",
    "lines": "of_phone showing showing_any kept_by_leavers without_emergency_number",
    "locations": "create delete showing update",
    "links": "all create delete of_extension of_user",
    "notes": "of_phone of_user put_on_phone put_on_user",
    "permissions": "all create delete get update",
    "personal_directory": "create of_user",
    "phones": "summaries",
    "plan_batch": "call",
    "plan_template": "call",
    "profiles": "of_user",
    "register": "call require_open",
    "read_phone_list": "call",
    "rehearse_batch": "call",
    "restart_phone": "call",
    "rights": "all get grant remove",
    "sync_people": "call",
    "templates": "all check create delete get revision revisions update",
    "transfer": "asterisk into out",
    "try_template": "call difference",
    "undo_act": "call",
    "user_permissions": "assign get remove",
    "users": "all create delete get update",
    "vendor_users": "delete get save state unlock",
    "view_fleet": "numbers state",
}
"""The methods by use case. Some are also open to the user of the record, whom no call names. Those
that write shared records are not named here."""
SHARED = {"create", "update", "save", "delete"}


def calls_of(use_case: object) -> dict[str, Callable[..., Any]]:
    """The methods that an actor calls; a use case that is called itself is one of no name."""
    methods = {name: getattr(use_case, name) for name in vars(type(use_case))}
    return {
        name.strip("_"): method
        for name, method in methods.items()
        if (name == "__call__" or not name.startswith("_"))
        and callable(method)
        and "actor" in inspect.signature(method).parameters
    }


@pytest.mark.parametrize(
    "actor",
    [Actor(STRANGER, None), Actor(STRANGER, 7, level_rule=LevelRule.STRICT)],
    ids=["no level", "level 7"],
)
async def test_use_cases_of_level_0_refuse_others_before_they_read(
    actor: Actor,
) -> None:
    refused: dict[str, set[str]] = {}
    expected = {name: set(methods.split()) for name, methods in REFUSED.items()}
    async with open_in_memory() as phoneprov:
        for name in UseCases.__dataclass_fields__:
            use_case = getattr(phoneprov, name)
            calls = calls_of(use_case)
            if hasattr(use_case, "shared_write"):
                expected.setdefault(name, set()).update(SHARED & calls.keys())
            found = {one for one, call in calls.items() if await is_forbidden(call, actor)}
            if found:
                refused[name] = found
    assert refused == expected


async def is_forbidden(call: Callable[..., Any], actor: Actor) -> bool:
    """Whether the call is refused, with arguments that cannot be read."""
    given = {
        name: None
        for name, parameter in inspect.signature(call).parameters.items()
        if name != "actor" and parameter.default is parameter.empty
    }
    try:
        called = call(actor, **given)
        if isinstance(called, AsyncGenerator):
            await anext(called)
        else:
            await called
    except Forbidden:
        return True
    except Exception:  # noqa: BLE001 - what it was not given
        return False
    return False
