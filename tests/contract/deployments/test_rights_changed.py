"""A number that was taken away does not come back by a rollback or by an undo."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from support.api import Caller, data_of, error_of, opened_api
from support.polling import until
from support.switch_rig import MAC, World, a_desk_phone

SECRET = "Boss-Secret & 4711"
SHOWN = "Boss-Secret &amp; 4711"
BODY = (
    "<device>{% for l in lines %}<line><authName>{{ l.number }}</authName>"
    "<authPassword>{{ l.password }}</authPassword></line>{% endfor %}</device>"
)
TYPED = f"<d><line><name>1001</name><authPassword>{SHOWN}</authPassword></line></d>"


@dataclass
class Office:
    """Ada's phone has her line 1001, and then a text without one."""

    world: World
    admin: Caller
    ada: Caller
    bob: Caller
    extension: str = ""
    link: str = ""
    profile: str = ""

    async def furnish(self, body: str) -> None:
        await a_desk_phone(self.admin)
        fields = {"type": "chan_pjsip", "extension": "1001", "name": "Boss", "password": SECRET}
        self.extension = data_of(await self.admin.post("/extensions", fields), 201)["uuid"]
        self.link = await self.give(self.ada)
        template = {"name": "office", "body": body}
        data_of(await self.admin.post("/configuration-templates", template), 201)
        await self.deploy_anew(template="office")

    async def deploy_anew(self, **fields: Any) -> None:
        new = {"user_uuid": self.ada.uuid, "name": "desk", **fields}
        made = data_of(await self.admin.post("/phone-profiles", new), 201, metadata=False)
        self.profile = made["uuid"]
        await self.switch()

    async def switch(self) -> None:
        body = {"profile_uuid": self.profile, "mac": MAC}
        data_of(await self.admin.post("/phone-profiles/switch", body), 200, metadata=False)

    async def give(self, user: Caller) -> str:
        link = {"user_uuid": user.uuid, "extension_uuid": self.extension}
        return str(data_of(await self.admin.post("/user-extensions", link), 201)["uuid"])

    async def take_away(self, how: str) -> None:
        """Take the number from Ada, and deploy what is left."""
        if how in {"unlinked", "given"}:
            data_of(await self.admin.delete(f"/user-extensions/{self.link}"))
        if how == "given":
            await self.give(self.bob)
        if how == "deleted":
            data_of(await self.admin.delete(f"/extensions/{self.extension}"))
        fields = {"inactive": {"is_active": False}, "password": {"password": "another"},
                  "renumbered": {"extension": "1002"}}  # fmt: skip
        if how in fields:
            data_of(await self.admin.put(f"/extensions/{self.extension}", fields[how]))
        await self.switch()

    async def rollback(self, who: Caller, **fields: Any) -> Any:
        return await who.post(f"/phones/{MAC}/rollback", fields)

    def on_phone(self) -> str:
        return self.world.uploads[-1].content.decode()


@pytest.fixture(params=["memory", "postgres"])
async def office(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Office]:
    world = World()
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind=request.param, overrides=adapters) as api:
        admin = await api.account("admin", level=0)
        yield Office(world, admin, await api.account("ada"), await api.account("bob"))


@pytest.mark.parametrize("how", ["unlinked", "given", "deleted", "inactive", "password",
                                 "renumbered"])  # fmt: skip
async def test_rollback_to_a_number_that_was_taken_away_is_refused(
    office: Office, how: str
) -> None:
    await office.furnish(BODY)
    first = data_of(await office.ada.get(f"/phones/{MAC}/deployments"))[0]["uuid"]
    await office.take_away(how)
    before = office.on_phone()

    replies = [
        await office.rollback(office.ada),
        await office.rollback(office.ada, deployment_uuid=first),
        await office.rollback(office.admin),
    ]

    for reply in replies:
        error_of(reply, 409, "rights_changed")
        assert "the number 1001, which its user no longer has" in reply.json()["message"]
    assert office.on_phone() == before
    error_of(await office.rollback(office.ada, force=True), 403, "forbidden")
    data_of(await office.rollback(office.admin, force=True), 200)
    assert SHOWN in office.on_phone()


async def test_rollback_to_a_number_that_was_given_back_is_allowed(office: Office) -> None:
    await office.furnish(BODY)
    await office.take_away("deleted")
    fields = {"type": "chan_pjsip", "extension": "1001", "name": "New", "password": SECRET}
    office.extension = data_of(await office.admin.post("/extensions", fields), 201)["uuid"]
    await office.give(office.ada)

    data_of(await office.rollback(office.ada), 200)

    assert SHOWN in office.on_phone()


async def test_rollback_to_a_profile_that_was_given_away_brings_no_line_of_its_former_owner(
    office: Office,
) -> None:
    await office.furnish(BODY)
    await office.admin.put(f"/phone-profiles/{office.profile}", {"user_uuid": office.bob.uuid})
    await office.switch()

    error_of(await office.rollback(office.bob), 409, "rights_changed")

    assert SHOWN not in office.on_phone()


@pytest.mark.parametrize(
    "body",
    [
        "<d><a>line {{ lines|join('', attribute='number') }}</a></d>",
        "<d>{% for l in lines if l.number == '1001' %}<a>typed</a>{% endfor %}</d>",
        "<d><a>{{ lines[0].name|upper if lines|length else '' }}</a></d>",
    ],
)
async def test_line_that_was_read_in_another_way_does_not_come_back(
    office: Office, body: str
) -> None:
    await office.furnish(body)
    await office.take_away("given")

    error_of(await office.rollback(office.ada), 409, "rights_changed")


async def test_rollback_of_a_text_without_lines_is_allowed(office: Office) -> None:
    await office.furnish("<d><a>{{ lines|length }}</a></d>")
    await office.take_away("given")

    data_of(await office.rollback(office.ada), 200)

    assert office.on_phone() == "<d><a>1</a></d>"


async def test_rollback_of_a_typed_text_brings_no_line_of_another_user(office: Office) -> None:
    await office.furnish("<d/>")
    await office.deploy_anew(cnf_xml=TYPED)
    await office.admin.put(f"/phone-profiles/{office.profile}", {"cnf_xml": "<d/>"})
    await office.switch()
    data_of(await office.rollback(office.ada), 200)
    await office.switch()
    await office.take_away("given")

    replies = [
        await office.rollback(office.ada),
        await office.rollback(office.ada, profile_uuid=office.profile, revision=1),
    ]

    for reply in replies:
        error_of(reply, 409, "rights_changed")
    assert office.on_phone() == "<d/>"


async def test_rollback_to_a_user_who_is_not_active_is_refused(office: Office) -> None:
    await office.furnish("<d>1</d>")
    await office.deploy_anew(cnf_xml="<d>2</d>")
    data_of(await office.admin.put(f"/users/{office.ada.uuid}", {"is_active": False}))

    reply = await office.rollback(office.admin)

    error_of(reply, 409, "rights_changed")
    assert reply.json()["message"] == (
        "The user of this configuration, ada, is not active. "
        "With force, level 0 deploys it all the same."
    )
    data_of(await office.rollback(office.admin, force=True), 200)
    assert office.on_phone() == "<d>1</d>"


async def test_number_that_was_taken_away_is_shown_in_the_past_and_not_restored(
    office: Office,
) -> None:
    await office.furnish(BODY)
    data_of(await office.admin.put(f"/phones/{MAC}", {"software_type": "SIP"}))
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    await asyncio.sleep(0.002)
    await office.take_away("given")
    before = office.on_phone()

    (then,) = data_of(await office.admin.get("/history/phones", at=at))
    (today,) = data_of(await office.admin.get("/history/phones"))
    assert (then["lines"], then["template_name"]) == (["1001"], "office")
    assert (today["lines"], today["revision"]) == ([], then["revision"])
    order = {"action": "switch", "as_of": at}
    plan = data_of(await office.admin.post("/batches/plan", order), 200)
    (problem,) = plan["problems"]
    assert "the number 1001, which its user no longer has" in problem["message"]
    assert SECRET not in str(plan)
    assert SHOWN not in str(plan)
    batch = data_of(await office.admin.post("/batches", order), 202)

    async def is_over() -> bool:
        found = data_of(await office.admin.get(f"/batches/{batch['uuid']}"))
        return found["ended_at"] is not None

    await until(is_over)
    (phone,) = data_of(await office.admin.get(f"/batches/{batch['uuid']}/phones"))
    assert phone["state"] == "left_out"
    assert problem["message"].partition("the phone")[0] in phone["message"]
    assert office.on_phone() == before
