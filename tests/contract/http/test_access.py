"""Access: every route, requested by every kind of caller, under every rule.

A route that the application has and the table lacks fails, and so does the opposite.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from string import Formatter

import httpx
import pytest
import pytest_asyncio

from phoneprov_adapters.memory.devices import MemoryManager, MemoryPhone, MemoryUploader
from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.people.audit import AuditEntry, WantedEntries
from phoneprov_http.app import HttpSettings, litestar_app
from support.access_rig import HELPDESK_TOKEN, HELPDESKS, KNOWN, UNKNOWN, Rig
from support.access_table import HELPDESK, TABLE, V1
from support.api import opened_api
from support.records import identifier

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "default": {},
    "strict": {"PHONEPROV_LEVEL_RULE": "strict"},
    "bearer": {"PHONEPROV_SHARED_WRITE": "bearer"},
    "public": {"PUBLIC_REGISTER": "true"},
}

OK = 0
"""The status of a success of the route."""


def rule(stranger: int, owner: int, level_0: int, level_7: int, unknown: int = 401) -> list[int]:
    return [unknown] * len(UNKNOWN) + [stranger, owner, level_0, level_7]


# For each kind of rule and each setting: the statuses for the callers in the order above. A
# setting that is not named has those of the default.
RULES: dict[str, dict[str, list[int]]] = {
    "everyone": {"default": rule(OK, OK, OK, OK, unknown=OK)},
    "account": {"default": rule(OK, OK, OK, OK)},
    "level 0": {"default": rule(403, 403, OK, OK), "strict": rule(403, 403, OK, 403)},
    "shared": {
        "default": rule(403, 403, OK, OK),
        "strict": rule(403, 403, OK, 403),
        "bearer": rule(OK, OK, OK, OK),
    },
    "own record": {"default": rule(404, OK, OK, OK), "strict": rule(404, OK, OK, 404)},
    "own token": {"default": rule(404, OK, 404, 404)},
    "own user": {"default": rule(403, OK, OK, OK), "strict": rule(403, OK, OK, 403)},
    "register": {
        "default": rule(403, 403, OK, OK, unknown=403),
        "strict": rule(403, 403, OK, 403, unknown=403),
        "public": rule(OK, OK, OK, OK, unknown=OK),
    },
}

READS = {
    f"POST {V1}/phone-profiles/switch/preview",
    f"POST {V1}/configuration-templates/{{uuid}}/render",
    f"POST {V1}/configuration-templates/{{uuid}}/plan",
    f"POST {V1}/phone-profiles/lint",
    f"POST {V1}/configuration-templates/check",
    f"POST {V1}/batches/plan",
    f"POST {V1}/batches/list",
    f"POST {V1}/batches/rehearse",
    f"POST {V1}/numbers",
}
NEED_A_LOGIN = {
    f"POST {V1}/auth/logout",
    f"PUT {V1}/me/password",
    f"DELETE {V1}/me/sessions/{{uuid}}",
    f"DELETE {V1}/me/identities/{{uuid}}",
    f"DELETE {V1}/users/{{uuid}}/identities/{{identity_uuid}}",
    f"DELETE {V1}/users/{{uuid}}/sessions/{{session_uuid}}",
    f"DELETE {V1}/users/{{uuid}}/tokens/{{token_uuid}}",
    f"POST {V1}/me/tokens",
    f"DELETE {V1}/me/tokens/{{uuid}}",
    f"PUT {V1}/vendor-users/{{user_uuid}}",
    f"DELETE {V1}/vendor-users/{{user_uuid}}",
    f"DELETE {V1}/vendor-users/{{user_uuid}}/lock",
}
UNCHANGING = READS | {
    f"POST {V1}/auth/refresh",  # a session continues; its reuse is audited
    f"DELETE {V1}/me/tokens/{{uuid}}",  # of its owner only, like the next
    f"DELETE {V1}/me/sessions/{{uuid}}",
    f"DELETE {V1}/me/identities/{{uuid}}",
    "POST /console/session/refresh",  # like the next: without a cookie there is no session
    "DELETE /console/session",
}
CHANGING = [name for name in TABLE if not name.startswith("GET") and name not in UNCHANGING]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SETTINGS)
async def rig(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[str, Rig]]:
    folder: Path = tmp_path_factory.mktemp("access")
    adapters = {
        "hasher": PlainHasher(),
        "uploader": MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES)),
        "phone_commands": MemoryPhone(),
        "manager": MemoryManager(),
    }
    async with opened_api(
        folder,
        database_kind="memory",
        overrides=adapters,
        # The owner creates a profile for each caller and rule.
        PHONEPROV_MOST_PROFILES="0",
        **SETTINGS[request.param],
    ) as api:
        opened = Rig(api)
        await opened.create_callers()
        yield request.param, opened


async def test_table_has_every_route_of_the_application(rig: tuple[str, Rig]) -> None:
    async def ready() -> str | None:
        return None

    app = litestar_app(rig[1].api.container.use_cases(), HttpSettings(), ready=ready)
    routes = {
        f"{method} {route.path_format}"
        for route in app.routes
        for method in getattr(route, "methods", ())
        if method != "OPTIONS"
    }
    assert len(routes) > 80
    assert {name.removesuffix("/") for name in routes} == set(TABLE)


async def test_every_route_answers_every_caller_by_the_table(rig: tuple[str, Rig]) -> None:
    """A refused request changes nothing, and a change is audited with its request."""
    setting, opened = rig
    answered, expected = {}, {}
    for name, route in TABLE.items():
        for caller, status in by_the_table(setting, name).items():
            answered[name, caller] = await opened.asked(caller, route)
            expected[name, caller] = status
            read_only = caller == "read-only token" and route.rule != "everyone"
            if name in CHANGING or read_only:
                entries = await audited(opened)
                if status >= 400 or read_only:
                    assert {one.action for one in entries} <= {"access.refused"}, (name, caller)
                elif caller in HELPDESKS and route.rule not in {"everyone", "account"}:
                    assert entries, (name, caller, answered[name, caller])
                    given = {"old": None, "new": "helpdesk"}
                    assert {str(one.changes.get("right")) for one in entries} == {str(given)}, name
                elif caller == "level 0":
                    check_entries(opened, name, entries)
    assert answered == expected


def by_the_table(setting: str, name: str) -> dict[str, int]:
    """The status for each caller. A token may do what its user may, but for logins."""
    route = TABLE[name]
    answers = RULES[route.rule]
    statuses = [status or route.success for status in answers.get(setting, answers["default"])]
    expected = dict(zip((*UNKNOWN, *KNOWN), statuses, strict=True))
    for caller in (*HELPDESKS, HELPDESK_TOKEN):
        expected[caller] = expected["stranger"]
        if route.rule not in {"everyone", "account", "register"}:
            [kind] = [kind for kind, names in HELPDESK.items() if name in names]
            refused = 404 if kind.startswith("hidden") else 403
            is_out = caller == "helpdesk out of scope"
            allowed = kind == "anywhere" or ("scope" in kind and not is_out)
            expected[caller] = route.success if allowed else refused
        if caller == HELPDESK_TOKEN and name in NEED_A_LOGIN:
            expected[caller] = 403
    expected["token"] = 403 if name in NEED_A_LOGIN else expected["level 0"]
    reads = name.startswith("GET") or name in READS or route.rule == "everyone"
    expected["read-only token"] = expected["level 0"] if reads else 403
    return expected


async def audited(opened: Rig) -> list[AuditEntry]:
    """The audit entries of the last request."""
    async with opened.api.database.read() as tx:
        entries = [one.entry for one in await tx.audit.newest(WantedEntries(), 20)]
    return [entry for entry in entries if entry.request_id == opened.request_id]


def check_entries(opened: Rig, name: str, entries: list[AuditEntry]) -> None:
    assert entries, name
    callers = {opened.users["level 0"], opened.users["owner"]}  # the owner's is a login
    if name != f"POST {V1}/auth/register":
        assert {entry.actor_uuid for entry in entries} <= callers, name
    for entry in entries:
        assert entry.client_ip, name
        assert entry.action.partition(".")[2], name


async def test_missing_token_is_401_before_query_and_body(rig: tuple[str, Rig]) -> None:
    for name, route in TABLE.items():
        if route.rule in {"everyone", "register"}:
            continue
        reply = await broken(rig[1], "no token", name)

        assert reply.status_code == 401, name
        assert reply.json()["error"]["code"] == "unauthenticated", name
        assert reply.json()["error"]["details"] == [], name
        assert reply.headers["www-authenticate"] == "Bearer", name


async def test_missing_level_is_403_before_query_body_and_record(rig: tuple[str, Rig]) -> None:
    setting, opened = rig
    for name, route in TABLE.items():
        answers = RULES[route.rule]
        is_stranger = answers.get(setting, answers["default"])[len(UNKNOWN)]
        if route.rule in {"level 0", "shared"} and is_stranger == 403:
            reply = await broken(opened, "stranger", name)

            assert reply.status_code == 403, name
            assert reply.json()["error"]["code"] == "forbidden", name
            assert reply.json()["error"]["details"] == [], name


async def broken(opened: Rig, caller: str, name: str) -> httpx.Response:
    """The response to an invalid query and body for a record that does not exist."""
    route = TABLE[name]
    names = [name for _, name, _, _ in Formatter().parse(route.path) if name]
    path = route.path.format(**dict.fromkeys(names, identifier(9999)))
    token = opened.tokens[caller]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    opened.api.client.cookies.clear()
    return await opened.api.client.request(
        route.method, path, headers=headers, params={"limit": "x"}, content=b"{broken"
    )
