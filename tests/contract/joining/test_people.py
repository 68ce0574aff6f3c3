"""Joiners and leavers in one act, over HTTP and on every database."""

import asyncio
from typing import Any

import pytest

from contract.joining.conftest import People, person, steps, token_of
from phoneprov_core.features.joining.model import ActRefused, Leaver, LeaveRequest
from phoneprov_core.features.transfer.sheets import spoiled
from phoneprov_core.kernel.actor import LevelRule, system_actor
from support.api import data_of, error_of
from support.hotdesk import PIN
from support.switch_rig import MAC

BLOCK = "300-302"


async def free_desk(people: People) -> None:
    body = {"default_profile_uuid": None}
    data_of(await people.admin.put(f"/phones/{MAC}/desk", body))


async def test_joiner_gets_everything_in_one_act(people: People) -> None:
    moved = await people.join(
        person("grace", block=BLOCK, template="office", values={"vlan": "7"}, mac=MAC,
               department="Navy", location="Hall")
    )  # fmt: skip

    [grace] = moved["people"]
    assert (moved["written"], grace["number"], len(grace["pin"])) == (True, "300", 6)
    assert set(steps(moved).values()) == {"done"}, grace["steps"]
    assert await people.numbers("grace") == ["300"]
    [contact] = await people.rows("/company-directory")
    assert [contact[name] for name in ("name", "work", "email", "department", "location")] == [
        "Grace Byron", "300", "grace@office.example", "Navy", "Hall",
    ]  # fmt: skip
    assert b"<user>grace</user><n>7</n>" in people.office.on_phone()
    assert (await people.office.phone().log_in("grace", grace["pin"])).title == "Logged in"


async def test_entries_of_an_act_are_one_group(people: People) -> None:
    moved = await people.join(person("grace", block=BLOCK), person("linus", block=BLOCK))

    entries = await people.rows("/audit", resource="people_act", resource_id=moved["act"])
    assert [one["action"] for one in entries] == ["person.joined"] * 2
    assert {one["changes"]["number"]["new"] for one in entries} == {"300", "301"}
    requests = {one["request_id"] for one in await people.rows("/audit", action="user.created")}
    assert requests == {entries[0]["request_id"]}
    assert all(one["pin"] not in str(entries) for one in moved["people"])


@pytest.mark.parametrize("path", ["join", "leave"])
async def test_dry_run_foretells_the_act_and_writes_nothing(people: People, path: str) -> None:
    joiner = person("grace", block=BLOCK, template="office", mac=MAC)
    body: dict[str, Any] = {"people": [joiner]}
    if path == "leave":
        await people.join(joiner)
        body = {"people": [{"username": "grace"}]}
    before, happened = await people.everything(), len(people.office.world.happened)

    foretold = await people.post(path, {**body, "dry_run": True})

    assert (foretold["written"], foretold["act"]) == (False, None)
    assert foretold["people"][0]["pin"] is None
    assert (foretold["people"][0]["user_uuid"] is None) is (path == "join")
    assert (await people.everything(), len(people.office.world.happened)) == (before, happened)
    done = await people.post(path, body)
    parts = [[one["part"] for one in each["people"][0]["steps"]] for each in (foretold, done)]
    assert parts[0] == parts[1]


async def test_same_join_again_changes_nothing_and_shows_no_pin(people: People) -> None:
    joiner = person("grace", block=BLOCK, template="office", mac=MAC)
    await people.join(joiner)
    before, on_phone = await people.everything(), len(people.office.world.happened)

    again = await people.join(joiner)

    assert (again["written"], again["people"][0]["pin"], steps(again)) == (
        False, None, {"person": "unchanged"},
    )  # fmt: skip
    assert (await people.everything(), len(people.office.world.happened)) == (before, on_phone)


async def test_one_wrong_person_keeps_all_out_and_every_problem_is_named(people: People) -> None:
    before = await people.everything()
    problems = await people.refused("join", {"people": [
        person("grace", number="300"), person("GRACE", email="other@office.example"),
        person("hedy", number="300"), person("ada"), person("sophie", mac="001bd4ffffff",
                                                            template="office"),
    ]})  # fmt: skip
    assert problems == {
        "people[1].username": "is that of people[0] too",
        "people[2].number": "is that of people[0] too",
    }
    problems = await people.refused("join", {"people": [
        person("grace", block=BLOCK), person("ada", email="x@office.example"),
        person("sophie", mac="001bd4ffffff", template="office"), person("hedy", template="none"),
    ]})  # fmt: skip
    assert problems == {
        "people[1].username": "is in use by an account with another e-mail address",
        "people[2].mac": "is the address of no phone",
        "people[3]": "cannot be moved: There is no template none",
    }
    assert await people.everything() == before


async def test_wrong_fields_of_people_are_named_with_their_position(people: People) -> None:
    problems = await people.refused(
        "join",
        {"people": [person("grace"), {**person("hedy", email="no", block="9-1"), "shoes": 1}]},
        422,
    )
    assert problems == {
        "people[1].email": "must be an e-mail address",
        "people[1].block": "must be 1 to 10000 numbers, the smallest first",
        "people[1].shoes": "is not a field of this request",
    }


async def test_conflict_of_the_database_names_the_person(people: People) -> None:
    joiners = [person("grace"), person("hedy", email="ada@example.com")]
    problems = await people.refused("join", {"people": joiners})
    assert problems == {"people[1].email": "is already in use"}


@pytest.mark.parametrize("cell", ["300.0", "3.00E+02"])
def test_number_that_a_spreadsheet_changed_is_refused(cell: str) -> None:
    assert [one.field for one in spoiled({"number": cell})] == ["number"]


async def test_full_block_is_refused(people: People) -> None:
    names = ("a1", "b1", "c1", "d1")
    joiners = [person(name, block=BLOCK) for name in names]
    problems = await people.refused("join", {"people": joiners})
    assert problems == {"people[3].block": "has no free number"}


async def test_username_that_is_a_number_of_the_block_is_left_out(people: People) -> None:
    await people.join(person("300"))
    moved = await people.join(person("grace", block=BLOCK))
    assert moved["people"][0]["number"] == "301"


async def test_two_joins_that_want_the_next_number_get_two(people: People) -> None:
    names = ("grace", "hedy", "sophie")
    made = await asyncio.gather(*(people.join(person(name, block=BLOCK)) for name in names))
    assert sorted(one["people"][0]["number"] for one in made) == ["300", "301", "302"]


async def test_two_joins_that_want_one_free_number_get_two(people: People) -> None:
    await people.join(person("grace", block=BLOCK))
    await people.leave("grace")
    made = await asyncio.gather(
        *(people.join(person(name, block=BLOCK)) for name in ("hedy", "sophie"))
    )
    assert sorted(one["people"][0]["number"] for one in made) == ["300", "301"]
    assert [one["is_active"] for one in await people.rows("/extensions")] == [True, True]


async def test_desk_of_another_person_and_a_desk_in_use_are_left_alone(people: People) -> None:
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    joiner = person("hedy", block=BLOCK, template="office", mac=MAC)
    problems = await people.refused("join", {"people": [joiner]})
    assert problems == {"people[0].mac": "is the desk of grace"}
    await free_desk(people)
    await people.office.log_in()
    on_phone = people.office.on_phone()

    moved = await people.join(joiner)

    assert steps(moved)["phone"] == "pending"
    assert "ada is logged in at" in moved["people"][0]["steps"][-1]["message"]
    assert people.office.on_phone() == on_phone


async def test_phone_that_cannot_be_switched_is_said_and_the_records_stay(people: People) -> None:
    data_of(await people.admin.put(f"/phones/{MAC}", {"phone_ip": None}))
    moved = await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    assert (steps(moved)["phone"], moved["written"]) == ("failed", True)
    assert await people.numbers("grace") == ["300"]


async def test_api_token_makes_no_pin_and_joins_without(people: People) -> None:
    script = await token_of(people)
    body: dict[str, Any] = {"people": [person("grace")]}
    error_of(await script.post("/people/join", body), 403, "needs_login")
    body = {"people": [person("grace", pin=False)]}
    made = data_of(await script.post("/people/join", body))
    assert made["people"][0]["pin"] is None


async def test_leaver_loses_everything_and_the_phone_gets_its_default(people: People) -> None:
    office = people.office
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    lobby = office.lobby

    moved = await people.leave("grace", vacant_profile_uuid=lobby)

    assert steps(moved)["phone"] == "done", moved
    assert b"lobby" in office.on_phone()
    assert (await people.named("grace"))["is_active"] is False
    extension = await people.extension("300")
    assert extension is not None
    assert (await people.numbers("grace"), extension["is_active"]) == ([], False)
    assert [one["is_active"] for one in await people.rows("/company-directory")] == [False]
    assert (await office.desk())["default_profile_uuid"] == lobby


async def test_leaver_who_is_logged_in_is_logged_out_there(people: People) -> None:
    await people.office.log_in()
    moved = await people.leave("ada")
    assert (steps(moved)["phone"], (await people.office.desk())["user_uuid"]) == ("done", None)
    assert b"lobby" in people.office.on_phone()
    login = await people.office.phone().log_in("ada", PIN)
    assert login.title != "Logged in"


async def test_phone_that_is_being_switched_is_said(people: People) -> None:
    office = people.office
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    office.world.gate.clear()
    office.world.begun.clear()
    body = {"profile_uuid": office.profile, "mac": MAC}
    switching = asyncio.create_task(people.admin.post("/phone-profiles/switch", body))
    await office.world.begun.wait()
    moved = await people.leave("grace", vacant_profile_uuid=office.lobby)
    office.world.gate.set()
    await switching
    assert (moved["written"], steps(moved)["phone"]) == (True, "failed")


async def test_numbers_are_handed_over_with_another_password(people: People) -> None:
    await people.join(person("grace", block=BLOCK))
    before = await _password(people, "300")
    body = {"people": [{"username": "grace", "hand_over_to": "ada"}]}
    await people.post("leave", body)
    assert (await people.numbers("ada"), await people.numbers("grace")) == (["300"], [])
    assert await _password(people, "300") != before


async def test_shared_number_stays_active_with_its_password(people: People) -> None:
    await people.join(person("grace", block=BLOCK))
    extension = await people.extension("300")
    assert extension is not None
    link = {"user_uuid": people.office.ada.uuid, "extension_uuid": extension["uuid"]}
    data_of(await people.admin.post("/user-extensions", link), 201)
    before = await _password(people, "300")

    moved = await people.leave("grace")

    assert "ada has it too" in str(moved)
    assert (await people.extension("300") or {})["is_active"]
    assert await _password(people, "300") == before


async def test_leave_again_changes_nothing(people: People) -> None:
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    await people.leave("grace")
    before = await people.everything()
    again = await people.leave("grace")
    assert (again["written"], await people.everything()) == (False, before)


async def test_own_account_strangers_and_a_person_twice_cannot_leave(people: People) -> None:
    body = {"people": [{"username": name} for name in ("admin", "stranger", "ada", "Ada")]}
    assert await people.refused("leave", body) == {
        "people[0].username": "is your own account",
        "people[1].username": "is the name of no user",
        "people[3].username": "is that of people[2] too",
    }


async def test_last_superadmin_cannot_leave(people: People) -> None:
    operator = system_actor(LevelRule.HIERARCHICAL)
    await people.office.api.account("second", level=0)
    request = LeaveRequest(people=(Leaver(username="second"), Leaver(username="admin")))

    with pytest.raises(ActRefused) as refused:
        await people.office.api.container.leave_people()(operator, request)

    [problem] = refused.value.problems
    assert (problem.field, "level 0" in problem.message) == ("people[1]", True)
    assert (await people.named("second"))["is_active"]


async def test_join_is_undone_as_one(people: People) -> None:
    before = (await people.everything())[:5]
    moved = await people.join(
        person("grace", block=BLOCK, template="office", mac=MAC), person("hedy", block=BLOCK)
    )

    undone = await people.undo(moved["act"])

    assert undone["written"]
    assert (await people.everything())[:5] == before
    assert b"lobby" in people.office.on_phone()
    again = await people.undo(moved["act"])
    assert (again["written"], steps(again)) == (False, {"person": "unchanged"})


async def test_join_of_an_account_that_was_used_is_not_undone(people: People) -> None:
    moved = await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    await people.office.phone().log_in("grace", moved["people"][0]["pin"])

    for _ in range(2):  # An undo that changes nothing is not recorded as one.
        undone = await people.undo(moved["act"])
        assert (undone["written"], steps(undone)) == (False, {"account": "kept"})
        assert undone["people"][0]["user_uuid"] == moved["people"][0]["user_uuid"]

    assert await people.rows("/audit", action="person.joined_undone") == []
    assert await people.numbers("grace") == ["300"]
    assert b"<user>grace</user>" in people.office.on_phone()


async def test_leave_is_undone_as_one(people: People) -> None:
    await people.join(person("grace", block=BLOCK, template="office", mac=MAC))
    default = (await people.office.desk())["default_profile_uuid"]
    moved = await people.leave("grace", vacant_profile_uuid=people.office.lobby)

    await people.undo(moved["act"])

    assert (await people.named("grace"))["is_active"]
    assert await people.numbers("grace") == ["300"]
    assert (await people.extension("300") or {})["is_active"]
    assert [one["is_active"] for one in await people.rows("/company-directory")] == [True]
    assert (await people.office.desk())["default_profile_uuid"] == default
    assert b"<user>grace</user>" in people.office.on_phone()


async def test_number_that_another_person_got_does_not_come_back(people: People) -> None:
    await people.join(person("grace", block=BLOCK))
    moved = await people.leave("grace")
    await people.join(person("hedy", block=BLOCK))

    undone = await people.undo(moved["act"])

    assert steps(undone)["number"] == "kept"
    assert (await people.numbers("grace"), await people.numbers("hedy")) == ([], ["300"])


async def test_hand_over_is_undone(people: People) -> None:
    await people.join(person("grace", block=BLOCK))
    moved = await people.post("leave", {"people": [{"username": "grace", "hand_over_to": "ada"}]})
    await people.undo(moved["act"])
    assert (await people.numbers("ada"), await people.numbers("grace")) == ([], ["300"])


async def test_undo_of_a_join_keeps_a_number_that_another_person_has(people: People) -> None:
    moved = await people.join(person("grace", block=BLOCK))
    extension = await people.extension("300")
    assert extension is not None
    link = {"user_uuid": people.office.ada.uuid, "extension_uuid": extension["uuid"]}
    data_of(await people.admin.post("/user-extensions", link), 201)
    undone = await people.undo(moved["act"])
    assert steps(undone)["number"] == "kept"
    assert await people.numbers("ada") == ["300"]


async def test_unknown_act_is_not_found(people: People) -> None:
    body = {"act": "00000000-0000-4000-8000-00000000dead"}
    error_of(await people.admin.post("/people/undo", body), 404, "not_found")


async def _password(people: People, number: str) -> str:
    found = await people.extension(number)
    assert found is not None
    async with people.office.api.database.read() as tx:
        extension = await tx.extensions.find(found["uuid"])
    assert extension is not None
    return extension.password
