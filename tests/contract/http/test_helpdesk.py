"""The right helpdesk over HTTP: what it shows, where it reaches, and what it must not become."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from msgspec.structs import replace

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden
from phoneprov_core.people.users.model import Registration
from phoneprov_core.people.vendor_users import CreatePin
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api
from support.phone_records import a_deployment
from support.records import a_mac
from support.switch_rig import World

HERE, AWAY = "00:1B:D4:00:00:45", "00:1B:D4:00:00:46"
SECRET = "plantedSecret7391"
XML = (
    f"<device><!-- {SECRET} --><sshPassword>{SECRET}</sshPassword><name>{SECRET}</name>"
    f"<addOn>{SECRET}</addOn></device>"
)
TEMPLATE = (
    "<device><mine>{{ values.word }}</mine>"
    "{% for line in lines %}<linePassword>{{ line.password }}</linePassword>{% endfor %}"
    f"<other>{SECRET}</other></device>"
)
PROFILES = "/phone-profiles"


@pytest.fixture
async def world() -> World:
    return World()


@pytest.fixture
async def api(request: pytest.FixtureRequest, tmp_path: Path, world: World) -> AsyncIterator[Api]:
    kind = getattr(request, "param", "memory")
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind=kind, overrides=adapters) as opened:
        yield opened


class Office:
    """Two phones, at Berlin and Bonn, with profiles of Ada, and a helpdesk for Berlin."""

    def __init__(self, api: Api) -> None:
        self.api = api

    async def fill(self) -> "Office":
        self.admin = await self.api.account("admin", level=0)
        self.ada = await self.api.account("ada")
        self.helper = await self.api.account("helper")
        await self.grant(["Berlin"])
        for mac, location in ((HERE, "berlin / 3"), (AWAY, "Bonn")):
            phone = {"mac": mac, "location": location, "phone_ip": "10.20.30.45"}
            data_of(await self.admin.post("/phones", phone), 201)
        line: dict[str, Any] = {
            "type": "chan_sccp",
            "extension": "1001",
            "name": "Ada",
            "password": SECRET,
        }
        line |= {"voicemail": True, "voicemail_passcode": SECRET}
        self.extension = data_of(await self.admin.post("/extensions", line), 201)["uuid"]
        link = {"user_uuid": self.ada.uuid, "extension_uuid": self.extension}
        data_of(await self.admin.post("/user-extensions", link), 201)
        body = {"name": "office", "body": TEMPLATE}
        data_of(await self.admin.post("/configuration-templates", body), 201)
        self.plain = await self.profile(cnf_xml=XML)
        self.rendered = await self.profile(template="office", values={"word": SECRET})
        pin = {"pin_code": "7391"}
        data_of(await self.ada.put(f"/vendor-users/{self.ada.uuid}", pin), 200)
        data_of(await self.ada.post(f"/personal-directory/{self.ada.uuid}", {"name": SECRET}), 201)
        return self

    async def grant(self, locations: list[str]) -> None:
        body = {"right": "helpdesk", "locations": locations}
        data_of(await self.admin.put(f"/users/{self.helper.uuid}/rights", body), 200, "Right saved")

    async def profile(self, owner: Caller | None = None, **fields: Any) -> str:
        body = {"user_uuid": (owner or self.ada).uuid, "name": "Ada", **fields}
        made = data_of(await self.admin.post(PROFILES, body), 201, metadata=False)
        return str(made["uuid"])

    async def switch(self, caller: Caller, profile: str, mac: str = HERE) -> Any:
        return await caller.post(f"{PROFILES}/switch", {"profile_uuid": profile, "mac": mac})

    async def move(self, mac: str, location: str) -> None:
        data_of(await self.admin.put(f"/phones/{mac}", {"location": location}), 200)

    async def actor(self) -> Actor:
        return await self.api.container.authenticate()(self.helper.token)


async def table_of(caller: Caller, path: str) -> Any:
    return await caller.ask("GET", path, headers={"Accept": "text/csv"})


def found_in(reply: Any) -> str:
    """The data of a reply as text, without the text of the search."""
    data = reply.json()["data"]
    return str({**data, "q": None} if isinstance(data, dict) else data)


@pytest.fixture
async def office(api: Api) -> Office:
    return await Office(api).fill()


async def test_helpdesk_replies_and_what_is_kept_of_its_acts_contain_no_planted_secret(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    helper, paths = office.helper, (await office.api.client.get("/docs/openapi.json")).json()
    for profile in (office.plain, office.rendered):
        data_of(await office.switch(office.admin, profile), 200, metadata=False)
        data_of(await office.switch(helper, profile), 200, metadata=False)
    replies = []
    deployment, *_ = data_of(await helper.get("/deployments"), 200)
    names = {"mac": [HERE, AWAY], "kind": ["users"], "path": ["x"]}
    names |= {"userUuid": [office.ada.uuid], "user_uuid": [office.ada.uuid]}
    names |= {"extensionUuid": [office.extension], "extension_uuid": [office.extension]}
    found = [office.plain, office.rendered, office.ada.uuid, office.extension, deployment["uuid"]]
    for path, operations in paths["paths"].items():
        if "get" not in operations or not path.startswith("/api/v1"):
            continue
        variable = next((name for name in names if f"{{{name}}}" in path), "uuid")
        for value in names.get(variable, found):
            asked = path.removeprefix("/api/v1").replace(f"{{{variable}}}", value)
            replies.append((asked, await helper.get(asked)))
            replies.append((f"{asked} as CSV", await table_of(helper, asked)))
        # A search is no oracle: a secret finds what a text finds that is in no record.
        if any(one["name"] == "q" for one in operations["get"].get("parameters", [])):
            for text in (SECRET, SECRET[:6], "7391"):
                asked = path.removeprefix("/api/v1")
                found_by = [await helper.get(asked, q=q) for q in (text, "inNoRecord")]
                shown = {(one.status_code, found_in(one)) for one in found_by}
                assert len(shown) == 1, (asked, text)
    for profile in (office.plain, office.rendered):
        for typed in ({}, {"cnf_xml": "<device/>"}, {"values": {"word": "7391"}}):
            body = {"profile_uuid": profile, "mac": HERE, **typed}
            replies.append(
                (f"preview {typed}", await helper.post(f"{PROFILES}/switch/preview", body))
            )
        replies += [
            (method, await helper.post(f"/phones/{HERE}/{method}", {}))
            for method in ("restart", "rollback", "desk/logout")
        ]
    assert len(replies) > 100
    assert [path for path, reply in replies if SECRET in reply.text] == []
    assert {reply.status_code for _, reply in replies} <= {200, 403, 404, 409, 422}
    trail = data_of(await office.admin.get("/audit", actor_uuid=helper.uuid, limit=500), 200)
    assert {"phone.restarted", "phone.switched", "phone.rolled_back"} <= {
        one["action"] for one in trail
    }
    assert SECRET not in str(trail)
    logged = [
        f"{one.getMessage()} {vars(one)}" for one in caplog.records if "phoneprov" in one.name
    ]
    assert len(logged) > 100
    assert [line for line in logged if SECRET in line] == []


async def test_fault_of_a_template_is_not_quoted_to_a_helpdesk(office: Office) -> None:
    body = {"name": "faulty", "body": "<device><a{{ values.word }}></b></device>"}
    data_of(await office.admin.post("/configuration-templates", body), 201)
    profile = await office.profile(template="faulty", values={"word": SECRET})
    assert SECRET in (await office.switch(office.admin, profile)).text
    order = {"profile_uuid": profile, "mac": HERE}
    for reply in (
        await office.switch(office.helper, profile),
        await office.helper.post(f"{PROFILES}/switch/preview", order),
    ):
        error_of(reply, 409, "template_fails")
        assert SECRET not in reply.text


@pytest.mark.parametrize("api", ["memory", "sqlite", "postgres"], indirect=True)
async def test_helpdesk_lists_show_phones_in_scope_alone(office: Office) -> None:
    admin, helper = office.admin, office.helper
    for mac in (HERE, AWAY):
        data_of(await office.switch(admin, office.plain, mac), 200, metadata=False)

    async def macs(path: str) -> list[str]:
        path, _, query = path.partition("?")
        reply = await helper.get(path, **dict(parse_qsl(query)))
        return [one["mac"] for one in data_of(reply, 200)]

    for path in ("/phones/summaries", "/desks", "/deployments", f"/phones/{HERE}/deployments"):
        assert await macs(path) == [HERE], path
    for query in (
        "last_outcome=deployed",
        "in_use=true",
        "state=never_seen",
        f"user_uuid={office.ada.uuid}",
    ):
        assert await macs(f"/phones?{query}") == [HERE], query
    for query in ("q=ada", "q=1001", f"macs={AWAY}", "location=Bonn", "sort=-username"):
        assert AWAY not in await macs(f"/phones/summaries?{query}"), query
    for path in ("/phones/summaries", "/desks", "/deployments"):
        table = (await table_of(helper, path)).text
        assert (HERE in table, AWAY in table) == (True, False), path
    assert await macs("/phones/summaries?q=1001") == [HERE]
    assert await macs("/phones?q=1001") == []
    assert await macs(f"/phones/{AWAY}/deployments") == []
    assert (await helper.get("/deployments", limit=10)).json()["metadata"]["total"] == 1
    fleet = data_of(await helper.get("/fleet"), 200)
    assert (fleet["phones"], fleet["last_outcomes"]) == (1, {"deployed": 1})
    assert [one["outcomes"] for one in fleet["days"]] == [{"deployed": 1}]
    assert sum(fleet["locations"].values()) == 1
    assert [fleet[name] for name in ("inactive", "in_use", "discovered")] == [None] * 3
    await office.grant([])
    assert await macs("/desks") == [HERE, AWAY]
    await office.grant(["Hamburg"])
    for path in ("/phones/summaries", "/desks", "/deployments"):
        assert await macs(path) == [], path
    assert data_of(await helper.get("/fleet"), 200)["phones"] == 0


@pytest.mark.parametrize("api", ["memory", "sqlite", "postgres"], indirect=True)
async def test_people_and_numbers_show_a_helpdesk_no_phone_out_of_scope(office: Office) -> None:
    admin, helper = office.admin, office.helper
    for mac in (HERE, AWAY):
        data_of(await office.switch(admin, office.plain, mac), 200, metadata=False)
        data_of(await admin.put(f"/phones/{mac}", {"name": f"of Ada {mac[-2:]}"}), 200)
    of = {
        "phones": [HERE, AWAY],
        "users": [office.ada.uuid],
        "profiles": [office.plain],
        "extensions": [office.extension],
    }

    async def shown(caller: Caller) -> str:
        numbers = [await caller.post("/numbers", {"of": kind, "ids": of[kind]}) for kind in of]
        words = ("ada", "1001", "of Ada", "Bonn", AWAY, AWAY.replace(":", "").lower())
        found = [await caller.get("/search", q=word, most=20) for word in words]
        sorts = [await caller.get("/phones/summaries", sort=f"{d}number") for d in ("", "-")]
        filtered = [await caller.get(path, number="1001") for path in ("/phones", "/desks")]
        assert {one.status_code for one in (*numbers, *found, *sorts)} == {200}
        replies = (*numbers, *found, *sorts, *filtered)
        return "".join(found_in(one) for one in replies)

    assert AWAY in await shown(admin)
    text = await shown(helper)
    assert (HERE in text, AWAY in text) == (True, False)
    for kind in ("users", "extensions"):
        [row] = data_of(await helper.post("/numbers", {"of": kind, "ids": of[kind]}), 200)
        assert [one["mac"] for one in row["phones"]] == ([HERE] if kind == "users" else [])
        assert row["phones_total"] == len(row["phones"])
    await office.grant(["Hamburg"])
    text = await shown(helper)
    assert (HERE in text, AWAY in text) == (False, False)


async def test_phone_that_leaves_the_scope_is_out_of_reach_at_once(office: Office) -> None:
    admin, helper = office.admin, office.helper
    for profile in (office.plain, office.rendered):
        data_of(await office.switch(admin, profile), 200, metadata=False)
    own = data_of(await helper.get("/deployments"), 200)[0]["uuid"]
    assert (await helper.get(f"/phones/{HERE}/state")).status_code == 200

    await office.move(HERE, "Berlin 3")

    for path in ("state", "desk", "lines"):
        reply = await helper.get(f"/phones/{HERE}/{path}")
        error_of(reply, 403, "forbidden")
        assert "helpdesk for Berlin" in reply.json()["message"]
        assert "Berlin 3" in reply.json()["message"]
    error_of(await helper.get(f"/deployments/{own}"), 404)
    error_of(await helper.get("/deployments", before=own, limit=5), 404)
    for path, body in (
        (f"/phones/{HERE}/rollback", {}),
        (f"/phones/{HERE}/rollback", {"profile_uuid": office.plain, "revision": 1}),
        (f"/phones/{HERE}/desk/logout", {}),
        (f"{PROFILES}/switch", {"profile_uuid": office.plain, "mac": HERE}),
        (f"{PROFILES}/switch/preview", {"profile_uuid": office.plain, "mac": HERE}),
    ):
        error_of(await helper.post(path, body), 403, "forbidden")
    error_of(await helper.post(f"/phones/{HERE}/rollback", {"deployment_uuid": own}), 404)
    error_of(await helper.put(f"/phones/{HERE}/desk", {}), 403, "forbidden")


async def test_right_that_ended_after_the_request_was_authenticated_starts_nothing(
    office: Office, world: World
) -> None:
    admin, helper, path = office.admin, office.helper, f"/users/{office.helper.uuid}"
    switch = office.api.container.switch_profile()
    request = SwitchRequest(profile_uuid=office.plain, mac=HERE)

    async def refused(actor: Actor) -> None:
        with pytest.raises(Forbidden):
            await switch(actor, request)
        with pytest.raises(Forbidden):
            await office.api.container.desks().update(actor, HERE, DeskPatch())

    async def refused_anywhere(actor: Actor) -> None:
        pins = office.api.container.vendor_users()
        with pytest.raises(Forbidden):
            await pins.save(actor, office.ada.uuid, CreatePin(pin_code="826491"))
        with pytest.raises(Forbidden):
            await pins.delete(actor, office.ada.uuid)

    actor = await office.actor()
    await office.grant(["Bonn"])
    await refused(actor)
    await office.grant(["Berlin"])
    data_of(await admin.put(path, {"is_active": False}), 200)
    await refused(actor)
    await refused_anywhere(actor)
    data_of(await admin.put(path, {"is_active": True}), 200)
    await switch(actor, request)
    data_of(await admin.delete(f"{path}/rights"), 200, "Right removed")
    await refused(actor)
    await refused_anywhere(actor)
    error_of(await helper.get("/users"), 401)  # the session ended with the deactivation
    assert len(data_of(await admin.get("/deployments"), 200)) == 1


async def test_right_that_ended_logs_no_desk_out(office: Office, world: World) -> None:
    """Neither with a default profile, nor without one."""
    data_of(await office.switch(office.admin, office.plain), 200, metadata=False)
    desks, actor = office.api.container.desks(), await office.actor()
    other = await office.profile(cnf_xml="<device/>")
    data_of(await office.admin.delete(f"/users/{office.helper.uuid}/rights"), 200)
    for default in (None, other):
        body = {"default_profile_uuid": default}
        data_of(await office.admin.put(f"/phones/{HERE}/desk", body), 200)
        with pytest.raises(Forbidden):
            await desks.log_out(actor, HERE)
    used = data_of(await office.admin.get(f"/phones/{HERE}/desk"), 200)
    assert used["user_uuid"] == office.ada.uuid
    await office.grant(["Berlin"])
    left = data_of(await office.helper.post(f"/phones/{HERE}/desk/logout", None), 200)
    assert left["user_uuid"] is None


async def test_create_admin_ends_the_right_of_its_account(office: Office) -> None:
    account = Registration(
        first_name="H",
        last_name="H",
        username="helper",
        email="helper@example.com",
        password=PASSWORD,
    )
    await office.api.container.create_admin()(account)
    error_of(await office.admin.get(f"/users/{office.helper.uuid}/rights"), 404)
    assert "rights" not in data_of(await office.helper.get("/me"), 200)


@pytest.mark.parametrize("ends", ["right", "scope"])
async def test_switch_that_has_begun_is_finished_without_the_right(
    office: Office, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    deploy, begun, go_on = office.api.container.deploy(), asyncio.Event(), asyncio.Event()
    uploader = deploy.uploader
    upload = uploader.upload

    async def held(what: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await upload(what)

    monkeypatch.setattr(uploader, "upload", held)
    running = asyncio.ensure_future(office.switch(office.helper, office.plain))
    await begun.wait()
    if ends == "right":
        data_of(await office.admin.delete(f"/users/{office.helper.uuid}/rights"), 200)
    else:
        await office.move(HERE, "Bonn")
    go_on.set()

    assert data_of(await running, 200, metadata=False)["restart"] == "ok"
    [done] = data_of(await office.admin.get("/deployments"), 200)
    assert (done["outcome"], done["user_uuid"]) == ("deployed", office.helper.uuid)
    # Its caller sees the switch that it requested, and starts no other.
    own = data_of(await office.helper.get(f"/deployments/{done['uuid']}"), 200)
    assert (own["outcome"], own["sha256"]) == ("deployed", None)
    refused = await office.switch(office.helper, office.plain)
    error_of(refused, 404 if ends == "right" else 403)


async def test_pin_of_who_has_more_than_the_helpdesk_is_not_changed(office: Office) -> None:
    admin, helper, ada = office.admin, office.helper, office.ada
    other = await office.api.account("other")
    body = {"right": "helpdesk", "locations": ["Bonn"]}
    data_of(await admin.put(f"/users/{other.uuid}/rights", body), 200)
    pin = {"pin_code": "8264"}

    for user in (admin, other):
        error_of(await helper.put(f"/vendor-users/{user.uuid}", pin), 403, "forbidden")
        error_of(await helper.delete(f"/vendor-users/{user.uuid}"), 403, "forbidden")
    for user in (ada, helper):
        data_of(await helper.put(f"/vendor-users/{user.uuid}", pin), 200)
    error_of(await helper.get(f"/vendor-users/by-user/{ada.uuid}"), 403, "forbidden")
    data_of(await helper.delete(f"/vendor-users/{ada.uuid}"), 200)
    error_of(await helper.put("/vendor-users/00000000-0000-4000-8000-00000000dead", pin), 404)


async def test_preview_for_a_helpdesk_shows_no_configuration(office: Office) -> None:
    data_of(await office.switch(office.admin, office.rendered), 200, metadata=False)
    mine = await office.profile(office.helper, cnf_xml="<device><a>mine</a></device>")
    for profile in (office.plain, office.rendered, mine):
        body = {"profile_uuid": profile, "mac": HERE}
        reply = await office.helper.post(f"{PROFILES}/switch/preview", body)
        shown = data_of(reply, 200, metadata=False)
        hidden = [shown[name] for name in ("diff", "changed", "file_diff")]
        assert hidden == [None, None, None]
        assert shown["diff_note"] == "The right helpdesk does not read configurations."
        assert shown["on_phone"]["sha256"] is None
        assert (shown["sha256"] is None) == (profile != mine)
        if profile != mine:
            assert shown["findings"] == []
            for typed in ({"cnf_xml": "<device/>"}, {"values": {"word": "x"}}):
                reply = await office.helper.post(f"{PROFILES}/switch/preview", {**body, **typed})
                error_of(reply, 403, "forbidden")


async def test_helpdesk_reads_profiles_without_content_and_extensions_without_passcode(
    office: Office,
) -> None:
    helper = office.helper
    mine = await office.profile(helper, cnf_xml="<device/>")
    reply = await helper.get(f"{PROFILES}/{mine}")
    assert data_of(reply, 200, metadata=False)["cnf_xml"] == "<device/>"
    listed = data_of(await helper.get(PROFILES), 200, metadata=False)
    shown = {one["uuid"]: (one["cnf_xml"], one.get("values", "absent")) for one in listed}
    assert shown == {
        office.plain: (None, "absent"), office.rendered: (None, None), mine: ("<device/>", "absent")
    }  # fmt: skip
    extension = data_of(await helper.get(f"/extensions/{office.extension}"), 200)
    assert (extension["voicemail"], extension["voicemail_passcode"]) == (True, None)


async def test_phone_adopted_with_a_pin_gets_no_profile_of_another_by_right(
    office: Office,
) -> None:
    """Its user could read the configuration on it: the helpdesk would be that user."""
    async with office.api.database.write() as tx:
        phone = await tx.phones.find(HERE)
        assert phone is not None
        await tx.phones.put(replace(phone, adopted_with_pin=True))

    error_of(await office.switch(office.helper, office.plain), 409, "profile_not_allowed")
    body = {"profile_uuid": office.plain, "revision": 1}
    error_of(await office.helper.post(f"/phones/{HERE}/rollback", body), 409, "profile_not_allowed")


async def test_helpdesk_opens_the_lock_of_a_phone_and_chooses_nothing(office: Office) -> None:
    helper = office.helper
    data_of(await helper.put(f"/phones/{HERE}/desk", {}), 200, "Desk updated")
    for field, value in (("hotdesk", True), ("default_profile_uuid", None)):
        error_of(await helper.put(f"/phones/{HERE}/desk", {field: value}), 403, "forbidden")


async def test_right_is_one_of_an_account_without_level_0(office: Office) -> None:
    admin, helper = office.admin, office.helper
    path, body = f"/users/{helper.uuid}/rights", {"right": "helpdesk", "locations": []}
    error_of(await admin.put(f"/users/{admin.uuid}/rights", body), 409, "holds_level_0")
    error_of(await admin.put(path, {"right": "helpdesk"}), 422)
    for wrong in ({"right": "root"}, {"locations": ["a//b"]}, {"locations": "Berlin"}):
        error_of(await admin.put(path, {**body, **wrong}), 422)
    error_of(await admin.put("/users/00000000-0000-4000-8000-00000000dead/rights", body), 404)
    error_of(await admin.get(f"/users/{office.ada.uuid}/rights"), 404)
    names = ["Berlin", " berlin ", "Bonn / 2"]
    right = data_of(await admin.put(path, {**body, "locations": names}), 200)
    assert right["locations"] == ["Berlin", "Bonn/2"]
    assert data_of(await admin.get("/rights"), 200, "1 right(s) found") == [right]

    own = [{"right": "helpdesk", "locations": ["Berlin", "Bonn/2"]}]
    assert data_of(await helper.get("/me"), 200)["rights"] == own
    for caller in (admin, office.ada):
        assert "rights" not in data_of(await caller.get("/me"), 200)
    level = data_of(await admin.post("/permissions", {"level": 0, "name": "more"}), 201)["uuid"]
    given = {"user_uuid": helper.uuid, "perm_uuid": level}
    data_of(await admin.post("/user-perms", given), 200)
    data_of(await admin.delete(f"/user-perms/{helper.uuid}"), 200)
    error_of(await admin.get(path), 404)
    assert "rights" not in data_of(await helper.get("/me"), 200)


async def test_helpdesk_token_has_the_right_and_changes_no_pin(office: Office) -> None:
    made = data_of(await office.helper.post("/me/tokens", {"name": "script"}), 201)
    script = Caller(office.api.client, office.helper.uuid, made["token"])
    data_of(await office.switch(script, office.plain), 200, metadata=False)
    pin = await script.put(f"/vendor-users/{office.ada.uuid}", {"pin_code": "8264"})
    error_of(pin, 403, "needs_login")
    data_of(await office.admin.delete(f"/users/{office.helper.uuid}/rights"), 200)
    error_of(await office.switch(script, office.plain), 404)


async def test_deployments_of_a_phone_that_is_gone_are_of_no_location(office: Office) -> None:
    async with office.api.database.write() as tx:
        await tx.deployments.add(a_deployment(1, a_mac(77)))
    assert data_of(await office.helper.get("/deployments"), 200) == []
    await office.grant([])
    [gone] = data_of(await office.helper.get("/deployments"), 200)
    assert data_of(await office.helper.get(f"/deployments/{gone['uuid']}"), 200) == gone
