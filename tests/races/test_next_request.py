"""The end of a session or a changed level takes effect at the next request, in every worker
process."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from races.direct import Direct
from races.harness import Service
from races.wire import Line, Reply, kept_open, replies
from support.scale import note, rounds


class People(NamedTuple):
    """The users of a test, each with the tokens of a session."""

    root: str
    ada_uuid: str
    ada: str
    ada_refresh: str
    one: str
    zero: str


class Change(NamedTuple):
    """A request, and how it changes the responses to Ada's own: status before and after."""

    request: Callable[[People], tuple[str, str, Any, str]]
    path: str
    before: int
    after: int
    level: int | None = None


CHANGES = {
    "logout of the session": Change(
        lambda p: ("POST", "/auth/logout", {"refresh_token": p.ada_refresh}, p.ada),
        "/me",
        200,
        401,
    ),
    "logout of all": Change(lambda p: ("POST", "/auth/logout", None, p.ada), "/me", 200, 401),
    "deactivation": Change(
        lambda p: ("PUT", f"/users/{p.ada_uuid}", {"is_active": False}, p.root), "/me", 200, 401
    ),
    "deletion": Change(lambda p: ("DELETE", f"/users/{p.ada_uuid}", None, p.root), "/me", 200, 401),
    "a changed password": Change(
        lambda p: ("PUT", f"/users/{p.ada_uuid}", {"password": "a new one of hers"}, p.root),
        "/me",
        200,
        401,
    ),
    "level 0 taken away": Change(
        lambda p: ("DELETE", f"/user-perms/{p.ada_uuid}", None, p.root), "/users", 200, 403, 0
    ),
    "a lower level": Change(
        lambda p: ("POST", "/user-perms", {"user_uuid": p.ada_uuid, "perm_uuid": p.one}, p.root),
        "/users",
        200,
        403,
        0,
    ),
    "level 0 given": Change(
        lambda p: ("POST", "/user-perms", {"user_uuid": p.ada_uuid, "perm_uuid": p.zero}, p.root),
        "/users",
        403,
        200,
    ),
}


async def ask_all(lines: list[Line], path: str, token: str) -> list[Reply]:
    for line in lines:
        line.send("GET", path, token=token)
    return await replies(*lines)


async def people(direct: Direct, level: int | None) -> People:
    root = await direct.account(level=0)
    ada = await direct.account(level=level)
    (of_root,) = await direct.sessions(root.uuid)
    (of_ada,) = await direct.sessions(ada.uuid)
    return People(
        of_root.access_token,
        ada.uuid,
        of_ada.access_token,
        of_ada.refresh_token,
        (await direct.permission(1)).uuid,
        (await direct.permission(0)).uuid,
    )


@pytest.mark.parametrize("what", CHANGES)
async def test_change_takes_effect_at_the_next_request(service: Service, what: str) -> None:
    change = CHANGES[what]
    times = rounds(4, 100)
    async with service.direct() as direct, service.lines(1) as lines:
        for number in range(times):
            there = await people(direct, change.level)
            await kept_open(lines)
            before = await ask_all(lines, change.path, there.ada)
            assert [reply.status for reply in before] == [change.before] * len(lines)

            method, path, body, token = change.request(there)
            changed = await lines[number % len(lines)].ask(method, path, body, token=token)

            after = await ask_all(lines, change.path, there.ada)
            assert changed.status == 200, changed
            assert [reply.status for reply in after] == [change.after] * len(lines)
            if change.after == 401:
                token_after = {"refresh_token": there.ada_refresh}
                refreshed = await lines[-1 - number % len(lines)].ask(
                    "POST", "/auth/refresh", token_after
                )
                assert refreshed.status == 401
    note(
        f"{what}, {service.name}: {times} times, takes effect at the next request of every process"
    )
