"""Every route of the application, with its access rule."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.access_rig import Route
from support.access_targets import (
    a_deployment_of_the_owners,
    a_desk_of_the_owner,
    a_discovered_phone,
    a_joiner,
    a_leaver,
    a_new,
    a_new_batch,
    a_new_company_contact,
    a_new_extension,
    a_new_kem,
    a_new_link,
    a_new_permission,
    a_new_phone,
    a_new_user,
    a_phone_to_edit,
    a_phone_without_an_address,
    a_restart,
    a_session_of_another,
    a_session_of_the_owner,
    a_template_and_a_profile,
    a_text_of_a_new_template,
    a_token_of_another,
    a_token_of_the_owner,
    a_user_and_a_permission,
    a_user_with_a_right,
    an_act,
    an_edit,
    an_extension_for_the_owner,
    an_identity_of_another,
    an_identity_of_the_owner,
    fixed,
    login_of_the_owner,
    nothing,
    own_password,
    own_refresh_token,
    sending,
    the_owner,
    the_owners_contact,
    the_owners_profile,
)
from support.api import PASSWORD
from support.kinds import LOCATIONS, STANDARD, TEMPLATES, Kind

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
        ("PUT", "/password", "account", nothing, own_password),
        ("GET", "/sessions", "account", nothing),
        ("DELETE", "/sessions/{uuid}", "own token", a_session_of_the_owner),
        ("GET", "/identities", "account", nothing),
        ("DELETE", "/identities/{uuid}", "own token", an_identity_of_the_owner),
        ("GET", "/tokens", "account", nothing),
        ("POST", "/tokens", "account", nothing, sending(name="{n}"), 201),
        ("DELETE", "/tokens/{uuid}", "own token", a_token_of_the_owner),
    )
    yield from of(
        f"{V1}/users",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new_user),
        ("POST", "", "level 0", nothing, sending(**ACCOUNT), 201),
        ("PUT", "/{uuid}", "level 0", a_new_user, sending(first_name="Grace")),
        ("DELETE", "/{uuid}", "level 0", a_new_user),
        ("GET", "/{uuid}/sessions", "level 0", a_new_user),
        ("DELETE", "/{uuid}/sessions/{session_uuid}", "level 0", a_session_of_another),
        ("GET", "/{uuid}/identities", "level 0", a_new_user),
        ("DELETE", "/{uuid}/identities/{identity_uuid}", "level 0", an_identity_of_another),
        ("GET", "/{uuid}/tokens", "level 0", a_new_user),
        ("DELETE", "/{uuid}/tokens/{token_uuid}", "level 0", a_token_of_another),
    )
    yield from of(
        f"{V1}/users/{{uuid}}/rights",
        ("GET", "", "level 0", a_user_with_a_right),
        ("PUT", "", "level 0", a_user_with_a_right, sending(right="helpdesk", locations=["Bonn"])),
        ("DELETE", "", "level 0", a_user_with_a_right),
    )
    yield from of(f"{V1}/rights", ("GET", "", "level 0", nothing))
    yield from of(
        f"{V1}/users/{{uuid}}/note",
        ("GET", "", "level 0", a_new_user),
        ("PUT", "", "level 0", a_new_user, sending(note="Has the key of the rack")),
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
        ("GET", "/summaries", "level 0", nothing),
        ("GET", "/counts", "account", nothing),
        ("GET", "/{mac}", "account", a_new_phone),
        ("POST", "", "shared", nothing, sending(mac="{new_mac}"), 201),
        ("PUT", "/{mac}", "shared", a_new_phone, NAME),
        ("DELETE", "/{mac}", "shared", a_phone_without_an_address),
        ("GET", "/{mac}/deployments", "account", a_new_phone),
        ("POST", "/{mac}/rollback", "own record", a_deployment_of_the_owners),
        ("POST", "/{mac}/restart", "level 0", a_new_phone),
        ("GET", "/{mac}/note", "level 0", a_new_phone),
        ("PUT", "/{mac}/note", "level 0", a_new_phone, sending(note="By the window")),
        ("GET", "/{mac}/label", "level 0", a_new_phone),
        ("GET", "/{mac}/desk/lock", "level 0", a_new_phone),
        ("GET", "/{mac}/desk", "own record", a_desk_of_the_owner),
        ("PUT", "/{mac}/desk", "level 0", a_new_phone, sending(hotdesk=True)),
        ("POST", "/{mac}/desk/logout", "own record", a_desk_of_the_owner),
        ("GET", "/{mac}/fetches", "account", a_new_phone),
        ("GET", "/{mac}/state", "level 0", a_new_phone),
        ("POST", "/{mac}/replace", "level 0", a_new_phone, sending(mac="{new_mac}"), 201),
        ("GET", "/{mac}/lines", "level 0", a_new_phone),
        ("GET", "/{mac}/drills", "level 0", a_new_phone),
    )
    yield from of(
        f"{V1}/discovered-phones",
        ("GET", "", "level 0", nothing),
        ("POST", "/{mac}/adopt", "level 0", a_discovered_phone, sending(name="{n}"), 201),
    )
    yield from of(f"{V1}/fleet", ("GET", "", "level 0", nothing))
    yield from of(f"{V1}/history/phones", ("GET", "", "level 0", nothing))
    yield from of(f"{V1}/desks", ("GET", "", "account", nothing))
    yield from of(f"{V1}/search", ("GET", "", "account", nothing))
    wanted = sending(of="users", ids=["{owner}"])
    yield from of(f"{V1}/numbers", ("POST", "", "account", nothing, wanted))
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
        f"{V1}/configuration-templates",
        ("GET", "", "level 0", nothing),
        ("GET", "/{uuid}", "level 0", a_new(TEMPLATES)),
        ("POST", "", "level 0", nothing, sending(name="office {n}", body="<a/>"), 201),
        ("PUT", "/{uuid}", "level 0", a_new(TEMPLATES), sending(body="<a/>")),
        ("DELETE", "/{uuid}", "level 0", a_new(TEMPLATES)),
        ("POST", "/check", "level 0", nothing, sending(body="<a/>")),
        ("GET", "/{uuid}/revisions", "level 0", a_new(TEMPLATES)),
        ("GET", "/{uuid}/revisions/diff", "level 0", a_text_of_a_new_template),
        ("GET", "/{uuid}/revisions/text", "level 0", a_text_of_a_new_template),
        ("POST", "/{uuid}/plan", "level 0", a_new(TEMPLATES), sending(), 409),
        (
            "POST",
            "/{uuid}/render",
            "level 0",
            a_template_and_a_profile,
            sending(profile_uuid="{profile_uuid}", mac="{mac}"),
        ),
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
        f"{V1}/edits",
        (
            "POST",
            "/{kind}",
            "level 0",
            a_phone_to_edit,
            an_edit,
        ),
    )
    yield from of(
        "/console",
        ("GET", "", "everyone", nothing, None, 308),
        ("GET", "/{path}", "everyone", lambda _: fixed(path="views/phone.js")),
        ("GET", "/session", "everyone", nothing),
        ("POST", "/session", "everyone", nothing, login_of_the_owner),
        ("POST", "/session/refresh", "everyone", nothing),
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
        ("POST", "", "level 0", a_new_phone, a_restart, 202),
        ("POST", "/plan", "level 0", a_new_phone, a_restart),
        ("POST", "/rehearse", "level 0", a_new_phone, a_restart),
        ("POST", "/list", "level 0", nothing, sending(text="001bd4000001")),
        ("DELETE", "/{uuid}", "level 0", a_new_batch),
    )
    yield from of(
        f"{V1}/people",
        ("POST", "/join", "level 0", nothing, a_joiner),
        ("POST", "/leave", "level 0", a_new_user, a_leaver),
        ("POST", "/undo", "level 0", an_act, sending(act="{act}")),
    )
    yield from of(
        f"{V1}/locations",
        ("GET", "", "account", nothing),
        ("GET", "/{uuid}", "account", a_new(LOCATIONS)),
        ("POST", "", "level 0", nothing, sending(name="Hamburg/{n}"), 201),
        ("PUT", "/{uuid}", "level 0", a_new(LOCATIONS), sending(emergency_place="Hall {n}")),
        ("DELETE", "/{uuid}", "level 0", a_new(LOCATIONS)),
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
        ("GET", "/{user_uuid}/lock", "own user", the_owner),
        ("DELETE", "/{user_uuid}/lock", "own user", the_owner),
        ("DELETE", "/{user_uuid}", "own user", the_owner),
    )

    yield from of(f"{V1}/audit", ("GET", "", "level 0", nothing))


PAGES = Path(__file__).parents[2] / "docs/reference/http"
_ROW = re.compile(r"^\| ([A-Z]+) \| `([^`]+)` \| ([^|]+) \|", re.MULTILINE)
_NEW = re.compile(r"^```http\nPOST [^\n]+\n\n(.*?)^```", re.MULTILINE | re.DOTALL)
_RULES = {
    "any account": "account",
    "level 0": "level 0",
    "level 0 (or any account, by `PHONEPROV_SHARED_WRITE=bearer`)": "shared",
}


def documented(kind: Kind) -> Iterator[Route]:
    """The routes of a resource that has the usual ones alone, as its page documents them; the body
    is the one that the page creates a record with."""
    page = (PAGES / f"{kind.path}.md").read_text(encoding="utf-8")
    created = _NEW.search(page)
    assert created, f"{kind.path}.md shows no POST"
    fields = {
        name: f"{value} {{n}}" if name == "name" else value
        for name, value in json.loads(created[1]).items()
    }
    for method, path, who in _ROW.findall(page):
        target = nothing if path.endswith(kind.path) else a_new(kind)
        body = sending(**fields) if method in {"POST", "PUT"} else None
        yield Route(method, path, _RULES[who], target, body, 201 if method == "POST" else 200)


TABLE = {
    route.name: route
    for route in (*table(), *(route for kind in STANDARD for route in documented(kind)))
}


def _named(rows: str) -> set[str]:
    return {f"{m} {V1}{p}" for m, p in (row.split() for row in rows.strip().splitlines())}


HELPDESK = {
    "anywhere": _named("""
        GET /users
        GET /users/{uuid}
        GET /extensions
        GET /extensions/{uuid}
        GET /user-extensions
        GET /user-extensions/by-user/{user_uuid}
        GET /user-extensions/by-extension/{extension_uuid}
        GET /phones/summaries
        GET /fleet
        GET /phone-profiles/user/{user_uuid}
        GET /phone-profiles/{uuid}
        PUT /vendor-users/{user_uuid}
        DELETE /vendor-users/{user_uuid}
        GET /vendor-users/{user_uuid}/lock
        DELETE /vendor-users/{user_uuid}/lock
        GET /users/{uuid}/note
    """),
    "in scope": _named("""
        GET /phones/{mac}/note
        GET /phones/{mac}/label
        GET /phones/{mac}/desk/lock
        POST /phones/{mac}/rollback
        POST /phones/{mac}/restart
        GET /phones/{mac}/desk
        POST /phones/{mac}/desk/logout
        GET /phones/{mac}/state
        GET /phones/{mac}/lines
        POST /phone-profiles/switch
        POST /phone-profiles/switch/preview
    """),
    "hidden out of scope": _named("""
        GET /deployments/{uuid}
    """),
    "hidden": _named("""
        DELETE /me/sessions/{uuid}
        DELETE /me/identities/{uuid}
        DELETE /me/tokens/{uuid}
        PUT /personal-directory/contact/{uuid}
        DELETE /personal-directory/contact/{uuid}
    """),
    "never": _named("""
        POST /users
        PUT /users/{uuid}
        DELETE /users/{uuid}
        GET /users/{uuid}/sessions
        DELETE /users/{uuid}/sessions/{session_uuid}
        GET /users/{uuid}/identities
        DELETE /users/{uuid}/identities/{identity_uuid}
        GET /users/{uuid}/tokens
        DELETE /users/{uuid}/tokens/{token_uuid}
        GET /users/{uuid}/rights
        PUT /users/{uuid}/rights
        DELETE /users/{uuid}/rights
        GET /rights
        POST /extensions
        PUT /extensions/{uuid}
        DELETE /extensions/{uuid}
        GET /permissions
        GET /permissions/{uuid}
        POST /permissions
        PUT /permissions/{uuid}
        DELETE /permissions/{uuid}
        GET /user-perms/{user_uuid}
        POST /user-perms
        DELETE /user-perms/{user_uuid}
        POST /user-extensions
        DELETE /user-extensions/{uuid}
        POST /phones
        PUT /phones/{mac}
        DELETE /phones/{mac}
        PUT /phones/{mac}/desk
        PUT /phones/{mac}/note
        PUT /users/{uuid}/note
        POST /phones/{mac}/replace
        GET /phones/{mac}/drills
        GET /discovered-phones
        POST /discovered-phones/{mac}/adopt
        POST /phone-profiles
        PUT /phone-profiles/{uuid}
        DELETE /phone-profiles/{uuid}
        GET /phone-profiles/{uuid}/revisions
        GET /phone-profiles/{uuid}/revisions/diff
        GET /configuration-templates
        GET /configuration-templates/{uuid}
        POST /configuration-templates
        PUT /configuration-templates/{uuid}
        DELETE /configuration-templates/{uuid}
        POST /configuration-templates/check
        POST /configuration-templates/{uuid}/render
        GET /configuration-templates/{uuid}/revisions
        GET /configuration-templates/{uuid}/revisions/diff
        GET /configuration-templates/{uuid}/revisions/text
        POST /configuration-templates/{uuid}/plan
        POST /imports/{kind}
        POST /edits/{kind}
        GET /batches
        GET /batches/{uuid}
        GET /batches/{uuid}/phones
        POST /batches
        POST /batches/plan
        POST /batches/list
        POST /batches/rehearse
        POST /people/join
        POST /people/leave
        POST /people/undo
        DELETE /batches/{uuid}
        POST /locations
        PUT /locations/{uuid}
        DELETE /locations/{uuid}
        POST /company-directory
        PUT /company-directory/{uuid}
        DELETE /company-directory/{uuid}
        POST /vendor-kem
        PUT /vendor-kem/{uuid}
        DELETE /vendor-kem/{uuid}
        PUT /vendor-phones/{mac}
        DELETE /vendor-phones/{mac}
        GET /personal-directory/{user_uuid}
        POST /personal-directory/{user_uuid}
        GET /vendor-users/by-user/{user_uuid}
        GET /audit
        GET /history/phones
    """)
    | {one.name for kind in STANDARD for one in documented(kind) if one.rule != "account"},
}
"""What the right helpdesk gives, of the routes that are not for every account. ``in scope`` are
those at phones in its scope, ``hidden`` those whose records do not exist for others."""
