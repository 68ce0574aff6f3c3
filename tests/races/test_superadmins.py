"""Concurrent changes leave one account with level 0, and concurrent assignments leave a user with
one level."""

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from phoneprov_core.kernel.actor import SUPERADMIN, LevelRule
from phoneprov_core.people.users.model import User
from races.direct import Direct
from races.harness import Service
from races.wire import kept_open, replies
from support.scale import note, rounds

Request = tuple[str, str, Any]
Blow = Callable[[str, str], Request]
"""Requests that take level 0 from a user; the second argument is a permission of level 1."""

BLOWS: dict[str, Blow] = {
    "delete": lambda user, one: ("DELETE", f"/users/{user}", None),
    "deactivate": lambda user, one: ("PUT", f"/users/{user}", {"is_active": False}),
    "unassign": lambda user, one: ("DELETE", f"/user-perms/{user}", None),
}
STRICT_BLOWS: dict[str, Blow] = {
    **BLOWS,
    "lower": lambda user, one: ("POST", "/user-perms", {"user_uuid": user, "perm_uuid": one}),
}


@pytest.fixture(params=LevelRule)
def ruled_service(
    request: pytest.FixtureRequest, service: Service, hierarchical: Service
) -> Service:
    """A service under each of the two rules."""
    return service if request.param is LevelRule.STRICT else hierarchical


async def test_superadmins_removing_each_other_leave_one(
    ruled_service: Service,
) -> None:
    rule = ruled_service.settings.level_rule
    blows = STRICT_BLOWS if rule is LevelRule.STRICT else BLOWS
    pairs = list(itertools.product(blows.values(), repeat=2))
    # Each changes the other, and each changes itself.
    kinds = [(one, other, at) for one, other in pairs for at in (1, 0)]
    duels = rounds(len(kinds), 500)
    deadline = time.monotonic() + 60
    lost = Counter[int]()
    async with ruled_service.direct() as direct, ruled_service.lines(2) as lines:
        await direct.remove_all_assignments()
        ada, bob = await direct.account(), await direct.account()
        one = (await direct.permission(1)).uuid
        for number in itertools.count():
            # The number of meetings depends on the machine: the duels continue until some have met.
            if number >= duels and (_has_enough_conflicts(lost) or time.monotonic() > deadline):
                break
            first, second, at = kinds[number % len(kinds)]
            tokens = [await _superadmin(direct, user) for user in (ada, bob)]
            struck = [(ada, bob)[at], (bob, ada)[at]]
            await kept_open(lines)
            here, there = random.sample(lines, 2)
            for line, blow, user, token in zip(
                (here, there), (first, second), struck, tokens, strict=True
            ):
                method, path, body = blow(user.uuid, one)
                line.send(method, path, body, token=token)
            statuses = sorted(answer.status for answer in await replies(here, there))

            left = [user for user in (ada, bob) if await direct.holds(SUPERADMIN, user.uuid)]
            assert len(left) == 1, (number, statuses)
            assert statuses[0] == 200
            assert statuses[1] in {401, 403, 409}, statuses
            lost[statuses[1]] += 1
    assert _has_enough_conflicts(lost), f"the requests did not meet: {lost}"
    note(
        f"duels of two superadmins, {ruled_service.name}, {rule.value}: {lost.total()}, one left "
        f"each time; the other's request got {dict(sorted(lost.items()))}"
    )


def _has_enough_conflicts(lost: Counter[int]) -> bool:
    """Whether enough requests were refused by the rule, and not because the caller was removed."""
    return lost[409] > lost.total() // 10


async def _superadmin(direct: Direct, user: User) -> str:
    """Make the user a superadmin again; returns an access token."""
    await direct.put(user, level=SUPERADMIN)
    (tokens,) = await direct.sessions(user.uuid)
    return tokens.access_token


async def test_concurrent_assignments_leave_one_permission(service: Service) -> None:
    races = rounds(8, 200)
    async with service.direct() as direct, service.lines(4) as lines:
        root = await direct.account(level=SUPERADMIN)
        (by_root,) = await direct.sessions(root.uuid)
        levels = [(await direct.permission(level)).uuid for level in (1, 2, 3)]
        for _ in range(races):
            ada = await direct.account()
            await kept_open(lines)
            for line, level in zip(lines, itertools.cycle(levels), strict=False):
                body = {"user_uuid": ada.uuid, "perm_uuid": level}
                line.send("POST", "/user-perms", body, token=by_root.access_token)
            answers = await replies(*lines)

            assert [answer.status for answer in answers] == [200] * len(lines)
            assert await direct.assignments_of(ada.uuid) == 1
    note(f"racing assignments, {service.name}: {races} users x {len(lines)}, one each, no 5xx")
