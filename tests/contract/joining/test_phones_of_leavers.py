"""What the phones of people who leave get, what stays of a person, and acts at the same moment."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from contract.joining.conftest import People, person, steps
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.api import data_of
from support.switch_rig import MAC

BLOCK = "300-302"
SIP_TEXT = "<device><processNodeName>pbx.office.example</processNodeName><line>300</line></device>"


def failed(moved: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in moved["people"][0]["steps"] if one["outcome"] == "failed"]


async def states(people: People) -> list[str]:
    return list(data_of(await people.admin.get(f"/phones/{MAC}/state"))["states"])


async def in_attention(people: People) -> bool:
    """Whether a count of the overview that needs attention includes the phone."""
    fleet = data_of(await people.admin.get("/fleet"))
    outcomes = fleet["last_outcomes"]
    return bool(
        fleet["states"].get("user_inactive") or outcomes.get("failed") or outcomes.get("unknown")
    )


async def switched(people: People, body: dict[str, Any]) -> None:
    reply = await people.admin.post("/phone-profiles/switch", body)
    assert reply.status_code == httpx.codes.OK, reply.text


async def own_phone(people: People, software_type: str = "SCCP") -> None:
    """Grace's phone: no default profile, and a configuration with her number."""
    await people.join(person("grace", block=BLOCK, pin=False))
    admin, grace = people.admin, (await people.named("grace"))["uuid"]
    data_of(await admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None}))
    data_of(await admin.put(f"/phones/{MAC}", {"software_type": software_type}))
    body = {"user_uuid": grace, "name": "Grace", "cnf_xml": SIP_TEXT}
    profile = (await admin.post("/phone-profiles", body)).json()["data"]["uuid"]
    await switched(people, {"profile_uuid": profile, "mac": MAC})


@pytest.mark.parametrize(("software_type", "protocol"), [("SCCP", b"SCCP"), ("SIPE", b"SIP")])
async def test_phone_without_a_default_profile_gets_an_empty_configuration(
    people: People, software_type: str, protocol: bytes
) -> None:
    await own_phone(people, software_type)

    foretold = await people.leave("grace", dry_run=True)
    moved = await people.leave("grace")

    for one in (foretold, moved):
        [desk] = [each["message"] for each in one["people"][0]["steps"] if each["part"] == "desk"]
        assert "an empty configuration" in desk
        assert ("restart it by hand" in desk) is (protocol == b"SIP")
    assert steps(moved)["phone"] == "done"
    text = people.office.on_phone()
    assert b"300" not in text
    assert b"<deviceProtocol>" + protocol + b"<" in text
    assert b"<webAccess>0</webAccess>" in text
    assert b"<processNodeName>pbx.office.example</processNodeName>" in text
    assert not await in_attention(people)
    again = await people.leave("grace")
    assert (again["written"], steps(again)["phone"]) == (False, "unchanged")


async def test_empty_configuration_is_the_template_of_the_office_if_there_is_one(
    people: People,
) -> None:
    template = {"name": "empty", "body": "<device><own/></device>"}
    data_of(await people.admin.post("/configuration-templates", template), 201)
    await own_phone(people)
    await people.leave("grace")
    assert people.office.on_phone() == b"<device><own/></device>"


async def test_phone_that_got_an_empty_configuration_gets_its_own_back_by_the_undo(
    people: People,
) -> None:
    await own_phone(people)
    moved = await people.leave("grace")
    await people.undo(moved["act"])
    assert people.office.on_phone() == SIP_TEXT.encode()
    assert (await people.office.desk())["default_profile_uuid"] is None


async def test_joiner_gets_a_desk_that_a_leaver_left_empty(people: People) -> None:
    await own_phone(people)
    await people.leave("grace")
    moved = await people.join(person("hedy", block=BLOCK, template="office", mac=MAC))
    assert steps(moved)["phone"] == "done"
    assert b"<user>hedy</user>" in people.office.on_phone()


async def test_inactive_phone_of_a_leaver_keeps_its_file_and_is_said(people: People) -> None:
    await own_phone(people)
    data_of(await people.admin.put(f"/phones/{MAC}", {"is_active": False}))
    moved = await people.leave("grace")
    assert steps(moved)["phone"] == "pending"
    assert people.office.on_phone() == SIP_TEXT.encode()


@pytest.mark.parametrize("code", ["refused", OUTCOME_UNKNOWN])
async def test_switch_after_a_leave_that_failed_stays_in_attention_and_is_repeated(
    people: People, code: str
) -> None:
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    people.office.world.fail_next(Refused("The server hung up.", code=code))

    moved = await people.leave("grace")

    [step] = failed(moved)
    assert await in_attention(people)
    body = {"mac": step["mac"], "profile_uuid": step["profile_uuid"]}
    await switched(people, body)
    assert not await in_attention(people)


@pytest.mark.parametrize("is_logged_in", [False, True])
async def test_phone_that_was_not_restarted_after_a_leave_stays_in_attention(
    people: People, is_logged_in: bool
) -> None:
    office, name = people.office, "ada" if is_logged_in else "grace"
    if is_logged_in:
        await office.log_in()
    else:
        await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    office.world.phones.fail_at("Key:Settings", Refused("It does not answer."))

    moved = await people.leave(name)

    [step] = failed(moved)
    assert "It does not answer" in step["message"]
    assert "user_inactive" in await states(people)
    assert await in_attention(people)
    office.world.phones.heal()
    body = {"mac": step["mac"], "profile_uuid": step["profile_uuid"]}
    await switched(people, body)
    assert not await in_attention(people)


async def test_leaver_keeps_a_right_and_planned_batches_which_are_said(people: People) -> None:
    await own_phone(people)
    grace = await people.named("grace")
    right = {"right": "helpdesk", "locations": ["Berlin"]}
    data_of(await people.admin.put(f"/users/{grace['uuid']}/rights", right))
    profiles = await people.rows("/phone-profiles", q="Grace")
    plan = {"start_at": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
    batches = []
    for body in ({"profile_uuid": profiles[0]["uuid"], "model": "7945"}, {"items": [
        {"mac": MAC, "profile_uuid": people.office.lobby}]}):  # fmt: skip
        made = data_of(
            await people.admin.post("/batches", {"action": "switch", **body, **plan}), 202
        )
        batches.append(made["uuid"])

    moved = await people.leave("grace", dry_run=True)

    kept = [one["message"] for one in moved["people"][0]["steps"] if one["outcome"] == "kept"]
    assert any("the right helpdesk (Berlin)" in one for one in kept)
    assert [sum(uuid in one for one in kept) for uuid in batches] == [1, 1]


async def all_at_once(people: People, *requests: tuple[str, dict[str, Any]]) -> list[int]:
    replies = await asyncio.gather(
        *(people.admin.post(f"/people/{path}", body) for path, body in requests)
    )
    statuses = [one.status_code for one in replies]
    assert set(statuses) <= {httpx.codes.OK, httpx.codes.CONFLICT}, [one.text for one in replies]
    return statuses


async def test_two_leavers_who_hand_over_to_each_other_one_of_them_leaves(people: People) -> None:
    for turn in range(4):
        names = (f"ann{turn}", f"bob{turn}")
        await people.join(*(person(name, block="300-399", pin=False) for name in names))
        requests = [
            ("leave", {"people": [{"username": one, "hand_over_to": other}]})
            for one, other in (names, names[::-1])
        ]
        assert sorted(await all_at_once(people, *requests)) == [200, 409]
        left = [name for name in names if not (await people.named(name))["is_active"]]
        assert len(left) == 1
        [stayed] = set(names) - set(left)
        assert (len(await people.numbers(stayed)), await people.numbers(left[0])) == (2, [])


async def test_two_acts_with_the_same_people_in_another_order_are_decided(people: People) -> None:
    names = ["ann", "bob", "cid"]
    await people.join(*(person(name, block="300-399", pin=False) for name in names))
    requests = [
        ("leave", {"people": [{"username": name} for name in order]})
        for order in (names, names[::-1])
    ]
    assert await all_at_once(people, *requests) == [200, 200]
    assert [(await people.named(name))["is_active"] for name in names] == [False] * 3
    entries = await people.rows("/audit", action="person.left")
    assert len(entries) == 3


async def test_join_and_leave_of_one_person_at_once_are_decided(people: People) -> None:
    joiner = person("grace", block=BLOCK, template="office", mac=MAC, pin=False)
    for _ in range(3):
        await people.join(joiner)
        leaver = {"people": [{"username": "grace"}]}
        statuses = await all_at_once(people, ("join", {"people": [joiner]}), ("leave", leaver))
        assert statuses[1] == 200
        assert (await people.named("grace"))["is_active"] is False
        await people.undo((await people.rows("/audit", action="person.left"))[0]["resource_id"])
        assert (await people.named("grace"))["is_active"]


@pytest.mark.parametrize("what", ["join", "leave"])
async def test_undo_twice_at_once_is_done_once(people: People, what: str) -> None:
    moved = await people.join(person("grace", block=BLOCK, template="office", mac=MAC, pin=False))
    if what == "leave":
        moved = await people.leave("grace")
    body = {"act": moved["act"]}
    assert await all_at_once(people, ("undo", body), ("undo", body)) == [200, 200]
    verb = {"join": "joined", "leave": "left"}[what]
    assert len(await people.rows("/audit", action=f"person.{verb}_undone")) == 1
