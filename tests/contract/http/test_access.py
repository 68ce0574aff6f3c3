"""Who may do what: every route, asked by every kind of caller, under every rule that can be set.

A route that the application has and the table lacks fails, and so does the opposite.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from phoneprov_adapters.memory.phone import MemoryManager, MemoryPhone
from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.memory.uploader import MemoryUploader
from phoneprov_adapters.runtime.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_core.audit.model import WantedEntries
from phoneprov_http.app import HttpSettings, litestar_app
from support.access_rig import KNOWN, UNKNOWN, Rig, Route
from support.access_targets import (
    a_deployment_of_the_owners,
    a_desk_of_the_owner,
    a_new_batch,
    a_new_company_contact,
    a_new_extension,
    a_new_kem,
    a_new_link,
    a_new_permission,
    a_new_phone,
    a_new_service,
    a_new_user,
    a_user_and_a_permission,
    an_extension_for_the_owner,
    fixed,
    login_of_the_owner,
    nothing,
    own_refresh_token,
    sending,
    the_owner,
    the_owners_contact,
    the_owners_profile,
)
from support.api import PASSWORD, opened_api

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "default": {},
    "strict": {"PHONEPROV_LEVEL_RULE": "strict"},
    "bearer": {"PHONEPROV_SHARED_WRITE": "bearer"},
    "public": {"PUBLIC_REGISTER": "true"},
}

OK = 0
"""Stands for the status of the route's success."""


def rule(stranger: int, owner: int, level_0: int, level_7: int, unknown: int = 401) -> list[int]:
    return [unknown] * len(UNKNOWN) + [stranger, owner, level_0, level_7]


# For each kind of rule and each setting: the answers to the callers in the order above. A setting
# that is not named answers like the default.
RULES: dict[str, dict[str, list[int]]] = {
    "everyone": {"default": rule(OK, OK, OK, OK, unknown=OK)},
    "cookie": {"default": rule(401, 401, 401, 401)},
    "account": {"default": rule(OK, OK, OK, OK)},
    "level 0": {"default": rule(403, 403, OK, OK), "strict": rule(403, 403, OK, 403)},
    "shared": {
        "default": rule(403, 403, OK, OK),
        "strict": rule(403, 403, OK, 403),
        "bearer": rule(OK, OK, OK, OK),
    },
    "own record": {"default": rule(404, OK, OK, OK), "strict": rule(404, OK, OK, 404)},
    "own user": {"default": rule(403, OK, OK, OK), "strict": rule(403, OK, OK, 403)},
    "register": {
        "default": rule(403, 403, OK, OK, unknown=403),
        "strict": rule(403, 403, OK, 403, unknown=403),
        "public": rule(OK, OK, OK, OK, unknown=OK),
    },
}

ACCOUNT = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "username": "new-{n}",
    "email": "new-{n}@example.com",
    "password": PASSWORD,
}
EXTENSION = {"type": "custom", "extension": "{n}", "name": "Desk", "password": "secret"}
PROFILE = {"user_uuid": "{owner}", "name": "Ada", "cnf_xml": "<device/>"}
NAME = sending(name="Grace Hopper {n}")
V1 = "/api/v1"


def table() -> Iterator[Route]:
    def of(prefix: str, *rows: tuple[Any, ...]) -> Iterator[Route]:
        return (Route(method, prefix + path, *rest) for method, path, *rest in rows)

    yield from of(
        "/health", ("GET", "/live", "everyone", nothing), ("GET", "/ready", "everyone", nothing)
    )
    yield from of(
        "/docs",
        ("GET", "", "everyone", nothing),
        ("GET", "/openapi.json", "everyone", nothing),
        ("GET", "/{path}", "everyone", lambda _: fixed(path="docs.js")),
    )
    yield from of(
        f"{V1}/auth",
        ("POST", "/login", "everyone", nothing, login_of_the_owner),
        ("POST", "/register", "register", nothing, sending(**ACCOUNT), 201),
        ("POST", "/refresh", "everyone", nothing, own_refresh_token),
        ("POST", "/logout", "account", nothing, own_refresh_token),
    )
    yield from of(
        f"{V1}/me",
        ("GET", "", "account", nothing),
        ("GET", "/phones", "account", nothing),
        ("GET", "/vendor-services/personal", "account", nothing),
        ("GET", "/vendor-services/company", "account", nothing),
    )
    yield from of(
        f"{V1}/users",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new_user),
        ("POST", "", "level 0", nothing, sending(**ACCOUNT), 201),
        ("PUT", "/{uuid}", "level 0", a_new_user, sending(first_name="Grace")),
        ("DELETE", "/{uuid}", "level 0", a_new_user),
    )
    yield from of(
        f"{V1}/extensions",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new_extension),
        ("POST", "", "level 0", nothing, sending(**EXTENSION), 201),
        ("PUT", "/{uuid}", "level 0", a_new_extension, NAME),
        ("DELETE", "/{uuid}", "level 0", a_new_extension),
    )
    yield from of(
        f"{V1}/permissions",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new_permission),
        ("POST", "", "level 0", nothing, sending(level=0, name="{n}"), 201),
        ("PUT", "/{uuid}", "level 0", a_new_permission, NAME),
        ("DELETE", "/{uuid}", "level 0", a_new_permission),
    )
    yield from of(
        f"{V1}/user-perms",
        ("GET", "/{user_uuid}", "level 0", a_new_user),
        ("POST", "", "level 0", a_new_user, a_user_and_a_permission),
        ("DELETE", "/{user_uuid}", "level 0", a_new_user),
    )
    yield from of(
        f"{V1}/user-extensions",
        ("GET", "", "level 0", nothing),
        ("GET", "/by-user/{user_uuid}", "level 0", a_new_user),
        ("GET", "/by-extension/{extension_uuid}", "level 0", a_new_extension),
        ("POST", "", "level 0", nothing, an_extension_for_the_owner, 201),
        ("DELETE", "/{uuid}", "level 0", a_new_link),
    )
    yield from of(
        f"{V1}/phones",
        ("GET", "", "account", nothing),
        ("GET", "/{mac}", "account", a_new_phone),
        ("POST", "", "shared", nothing, sending(mac="{new_mac}"), 201),
        ("PUT", "/{mac}", "shared", a_new_phone, NAME),
        ("DELETE", "/{mac}", "shared", a_new_phone),
        ("GET", "/{mac}/deployments", "account", a_new_phone),
        ("POST", "/{mac}/rollback", "own record", a_deployment_of_the_owners),
        ("GET", "/{mac}/desk", "own record", a_desk_of_the_owner),
        ("PUT", "/{mac}/desk", "level 0", a_new_phone, sending(hotdesk=True)),
        ("POST", "/{mac}/desk/logout", "own record", a_desk_of_the_owner),
        ("GET", "/{mac}/fetches", "account", a_new_phone),
    )
    yield from of(f"{V1}/discovered-phones", ("GET", "", "level 0", nothing))
    yield from of(f"{V1}/desks", ("GET", "", "account", nothing))
    yield from of(
        f"{V1}/phone-profiles",
        ("GET", "", "account", nothing),
        ("GET", "/user/{user_uuid}", "own user", the_owner),
        ("GET", "/{uuid}", "own record", the_owners_profile),
        ("POST", "", "own user", nothing, sending(**PROFILE), 201),
        ("PUT", "/{uuid}", "own record", the_owners_profile, NAME),
        ("DELETE", "/{uuid}", "own record", the_owners_profile),
        (
            "POST",
            "/switch",
            "own record",
            the_owners_profile,
            sending(profile_uuid="{uuid}", mac="{mac}"),
        ),
        (
            "POST",
            "/switch/preview",
            "own record",
            the_owners_profile,
            sending(profile_uuid="{uuid}", mac="{mac}"),
        ),
        ("GET", "/{uuid}/revisions", "own record", the_owners_profile),
        ("GET", "/{uuid}/revisions/diff", "own record", the_owners_profile),
        ("POST", "/lint", "account", nothing, sending(cnf_xml="<device/>")),
    )
    yield from of(
        f"{V1}/imports",
        (
            "POST",
            "/{kind}",
            "level 0",
            lambda _: fixed(kind="phones"),
            sending(csv="mac\n{new_mac}\n"),
        ),
    )
    yield from of(
        "/console",
        ("GET", "", "everyone", nothing, None, 308),
        ("GET", "/{name}", "everyone", lambda _: fixed(name="main.js")),
        ("GET", "/{folder}/{name}", "everyone", lambda _: fixed(folder="views", name="phone.js")),
        ("POST", "/session", "everyone", nothing, login_of_the_owner),
        ("POST", "/session/refresh", "cookie", nothing),
        ("DELETE", "/session", "everyone", nothing),
    )
    yield from of(
        f"{V1}/deployments",
        ("GET", "", "account", nothing),
        ("GET", "/{uuid}", "own record", a_deployment_of_the_owners),
    )
    yield from of(
        f"{V1}/batches",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new_batch),
        ("GET", "/{uuid}/phones", "level 0", a_new_batch),
        ("POST", "", "level 0", a_new_phone, sending(action="restart", model="7945"), 202),
        ("DELETE", "/{uuid}", "level 0", a_new_batch),
    )
    yield from of(
        f"{V1}/company-directory",
        ("GET", "", "account", nothing),
        ("GET", "/{uuid}", "account", a_new_company_contact),
        ("POST", "", "shared", nothing, NAME, 201),
        ("PUT", "/{uuid}", "shared", a_new_company_contact, NAME),
        ("DELETE", "/{uuid}", "shared", a_new_company_contact),
    )
    yield from of(
        f"{V1}/vendor-kem",
        ("GET", "", "account", nothing),
        ("GET", "/{uuid}", "account", a_new_kem),
        ("POST", "", "shared", nothing, sending(model="CP-7916"), 201),
        ("PUT", "/{uuid}", "shared", a_new_kem, sending(model="CP-7916")),
        ("DELETE", "/{uuid}", "shared", a_new_kem),
    )
    yield from of(
        f"{V1}/vendor-services",
        ("GET", "", "account", nothing),
        ("GET", "/{uuid}", "account", a_new_service),
        ("POST", "", "shared", nothing, NAME, 201),
        ("PUT", "/{uuid}", "shared", a_new_service, NAME),
        ("DELETE", "/{uuid}", "shared", a_new_service),
    )
    yield from of(
        f"{V1}/personal-directory",
        ("GET", "/{user_uuid}", "own user", the_owner),
        ("POST", "/{user_uuid}", "own user", the_owner, NAME, 201),
        ("PUT", "/contact/{uuid}", "own record", the_owners_contact, NAME),
        ("DELETE", "/contact/{uuid}", "own record", the_owners_contact),
    )
    yield from of(
        f"{V1}/vendor-phones",
        ("GET", "", "account", nothing),
        ("GET", "/{mac}", "account", a_new_phone),
        ("PUT", "/{mac}", "shared", a_new_phone, sending(vendor=False)),
        ("DELETE", "/{mac}", "shared", a_new_phone),
    )
    yield from of(
        f"{V1}/vendor-users",
        ("GET", "/by-user/{user_uuid}", "own user", the_owner),
        ("PUT", "/{user_uuid}", "own user", the_owner, sending(pin_code="2468")),
        ("DELETE", "/{user_uuid}", "own user", the_owner),
    )

    yield from of(f"{V1}/audit", ("GET", "", "level 0", nothing))


TABLE = {route.name: route for route in table()}

UNCHANGING = {
    f"POST {V1}/auth/refresh",  # a session goes on; its reuse is audited
    f"POST {V1}/phone-profiles/switch/preview",
    f"POST {V1}/phone-profiles/lint",
    "POST /console/session/refresh",
    "DELETE /console/session",  # without a cookie there is no session
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
        await opened.everybody()
        yield request.param, opened


async def test_the_table_has_every_route_of_the_application(rig: tuple[str, Rig]) -> None:
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


@pytest.mark.parametrize("name", TABLE)
async def test_every_caller_is_answered_by_the_rule(rig: tuple[str, Rig], name: str) -> None:
    setting, opened = rig
    route = TABLE[name]
    answers = RULES[route.rule]
    expected = [status or route.success for status in answers.get(setting, answers["default"])]

    answered = [await opened.asked(caller, route) for caller in (*UNKNOWN, *KNOWN)]

    callers = (*UNKNOWN, *KNOWN)
    assert dict(zip(callers, answered, strict=True)) == dict(zip(callers, expected, strict=True))


@pytest.mark.parametrize("name", CHANGING)
async def test_change_over_http_leaves_audit_entry_of_its_request(
    rig: tuple[str, Rig], name: str
) -> None:
    _, opened = rig
    answered = await opened.asked("level 0", TABLE[name])

    assert answered == TABLE[name].success
    async with opened.api.database.read() as tx:
        entries = [one.entry for one in await tx.audit.newest(WantedEntries(), 20)]
    entries = [entry for entry in entries if entry.request_id == opened.request_id]
    assert entries
    callers = {opened.users["level 0"], opened.users["owner"]}  # the owner's is a login
    if name != f"POST {V1}/auth/register":
        assert {entry.actor_uuid for entry in entries} <= callers
    for entry in entries:
        assert entry.client_ip
        assert entry.action.partition(".")[2]
