"""Undo after changes by others, numbers that went on, and people with unusual names and numbers."""

from typing import Any

import pytest

from contract.joining.conftest import People, person, steps
from phoneprov_core.kernel.errors import require
from support.api import data_of
from support.hotdesk import OTHER_IP, OTHER_MAC
from support.switch_rig import a_desk_phone

BLOCK = "300-302"


def said(moved: dict[str, Any], number: int = 0) -> str:
    return " ".join(one["message"] for one in moved["people"][number]["steps"])


async def handed(people: People, *pairs: tuple[str, str | None]) -> dict[str, Any]:
    leavers = [{"username": name, "hand_over_to": to} for name, to in pairs]
    return await people.post("leave", {"people": leavers})


async def test_number_that_was_handed_on_does_not_come_back(people: People) -> None:
    await people.join(*(person(name, pin=False) for name in ("bob", "carol")))
    await people.join(person("grace", block=BLOCK, pin=False))
    left = await handed(people, ("grace", "bob"))
    await handed(people, ("bob", "carol"))

    undone = await people.undo(left["act"])

    assert steps(undone)["number"] == "kept"
    assert (await people.numbers("grace"), await people.numbers("carol")) == ([], ["300"])


async def test_numbers_that_went_through_a_chain_in_one_act_all_come_back(people: People) -> None:
    await people.join(person("carol", pin=False))
    await people.join(*(person(name, block=BLOCK, pin=False) for name in ("ann", "bob")))
    left = await handed(people, ("ann", "bob"), ("bob", "carol"))
    assert sorted(await people.numbers("carol")) == ["300", "301"]

    undone = await people.undo(left["act"])

    assert [one["username"] for one in undone["people"]] == ["ann", "bob"]
    assert {name: await people.numbers(name) for name in ("ann", "bob", "carol")} == {
        "ann": ["300"], "bob": ["301"], "carol": [],
    }  # fmt: skip


async def test_number_that_the_successor_has_already_is_said_once(people: People) -> None:
    await people.join(person("grace", block=BLOCK, pin=False))
    extension = await people.extension("300")
    assert extension is not None
    link = {"user_uuid": people.office.ada.uuid, "extension_uuid": extension["uuid"]}
    data_of(await people.admin.post("/user-extensions", link), 201)
    moved = await handed(people, ("grace", "ada"))
    assert "ada has it too." in said(moved)


async def test_leave_is_undone_for_the_others_when_an_account_was_deleted(people: People) -> None:
    await people.join(*(person(name, block=BLOCK, pin=False) for name in ("ann", "bob")))
    left = await people.leave("ann", "bob")
    ann = (await people.named("ann"))["uuid"]
    data_of(await people.admin.delete(f"/users/{ann}"))

    undone = await people.undo(left["act"])

    assert steps(undone, 0) == {"account": "kept"}
    assert undone["people"][0]["user_uuid"] is None
    assert (await people.named("bob"))["is_active"]
    assert await people.numbers("bob") == ["301"]


async def _changed(people: People, what: str) -> None:
    admin = people.admin
    uuid = (await people.named("grace"))["uuid"]
    if what == "account":
        data_of(await admin.put(f"/users/{uuid}", {"last_name": "Hopper"}))
    elif what == "right":
        data_of(await admin.put(f"/users/{uuid}/rights", {"right": "helpdesk", "locations": []}))
    elif what == "number":
        new = {"extension": "77", "name": "x", "type": "chan_sccp", "password": "aaaaaaaaaaaa"}
        made = data_of(await admin.post("/extensions", new), 201)
        link = {"user_uuid": uuid, "extension_uuid": made["uuid"]}
        data_of(await admin.post("/user-extensions", link), 201)
    elif what == "profile":
        new = {"user_uuid": uuid, "name": "Second", "cnf_xml": "<device/>"}
        assert (await admin.post("/phone-profiles", new)).status_code == 201
    elif what == "desk":
        profile = (await people.rows("/phone-profiles", q="Grace"))[0]["uuid"]
        await a_desk_phone(admin, mac=OTHER_MAC, phone_ip=OTHER_IP)
        data_of(await admin.put(f"/phones/{OTHER_MAC}/desk", {"default_profile_uuid": profile}))


@pytest.mark.parametrize("what", ["account", "right", "number", "profile", "desk"])
async def test_join_of_an_account_that_was_changed_since_is_not_undone(
    people: People, what: str
) -> None:
    moved = await people.join(person("grace", block=BLOCK, template="office", pin=False))
    await _changed(people, what)

    undone = await people.undo(moved["act"])

    assert (undone["written"], steps(undone)) == (False, {"account": "kept"})
    assert "300" in await people.numbers("grace")


async def test_records_that_were_changed_since_a_join_stay(people: People) -> None:
    moved = await people.join(person("grace", block=BLOCK, pin=False))
    [contact] = await people.rows("/company-directory")
    data_of(await people.admin.put(f"/company-directory/{contact['uuid']}", {"name": "Desk"}))
    extension = await people.extension("300")
    assert extension is not None
    data_of(await people.admin.put(f"/extensions/{extension['uuid']}", {"name": "Desk"}))

    undone = await people.undo(moved["act"])

    assert steps(undone) == {"account": "done", "number": "kept", "directory": "kept"}
    assert [one["name"] for one in await people.rows("/company-directory")] == ["Desk"]
    assert await people.extension("300") is not None


async def test_directory_entry_that_is_shown_already_is_not_said_to_be_shown(
    people: People,
) -> None:
    await people.join(person("grace", pin=False))
    left = await people.leave("grace")
    [contact] = await people.rows("/company-directory")
    data_of(await people.admin.put(f"/company-directory/{contact['uuid']}", {"is_active": True}))
    undone = await people.undo(left["act"])
    assert steps(undone)["directory"] == "unchanged"


async def test_own_entry_is_found_among_many_with_the_same_digits(people: People) -> None:
    for number in range(60):
        contact = {"name": f"A{number:03}", "work": f"+49 30 1007{number:02}",
                   "email": f"x{number}e@office.example"}  # fmt: skip
        data_of(await people.admin.post("/company-directory", contact), 201)
    await people.join(person("e", number="100", directory=False, pin=False))
    own = {"name": "E Byron", "work": "100"}
    data_of(await people.admin.post("/company-directory", own), 201)
    mail = {"name": "Other name", "email": "e@office.example"}
    data_of(await people.admin.post("/company-directory", mail), 201)

    moved = await people.leave("e")

    assert "E Byron is hidden." in said(moved)
    assert "Other name is hidden." in said(moved)


async def test_people_of_any_name_join_leave_and_come_back(people: People) -> None:
    names = [
        ("Se\u00e1n", "O'Neil"), ("I\u015f\u0131l", "\u0130n\u00f6n\u00fc"),
        ("Zo\u00eb", "de la Fuente y G\u00f3mez"), ("Ann", '<Byron> & "Co"'),
        ("x" * 200, "y" * 200),
    ]  # fmt: skip
    joiners = [
        {**person(f"p{at}", number=f"0{at}", template="office", pin=False), "first_name": first,
         "last_name": last}
        for at, (first, last) in enumerate(names)
    ]  # fmt: skip
    moved = await people.join(*joiners)
    assert [one["number"] for one in moved["people"]] == [f"0{at}" for at in range(5)]
    left = await people.leave(*(f"p{at}" for at in range(5)))
    assert all(not one["is_active"] for one in await people.rows("/company-directory"))
    await people.undo(left["act"])
    assert all(one["is_active"] for one in await people.rows("/company-directory"))
    assert [await people.numbers(f"p{at}") for at in range(5)] == [[f"0{at}"] for at in range(5)]
    # The leave changed the accounts, and its undo did.
    undone = await people.undo(moved["act"])
    assert [steps(undone, at) for at in range(5)] == [{"account": "kept"}] * 5


async def test_block_of_international_numbers(people: People) -> None:
    block = "+4930100-+4930101"
    moved = await people.join(*(person(name, block=block, pin=False) for name in ("ann", "bob")))
    assert [one["number"] for one in moved["people"]] == ["+4930100", "+4930101"]
    body = {"people": [person("cid", block=block, pin=False)]}
    assert await people.refused("join", body) == {"people[0].block": "has no free number"}


async def test_number_that_is_the_username_of_another_person_is_refused(people: People) -> None:
    await people.join(person("300", pin=False))
    body = {"people": [person("grace", number="300", pin=False)]}
    [field] = await people.refused("join", body)
    assert field == "people[0].number"


@pytest.mark.parametrize(("family", "kind"), [("SIP", "chan_pjsip"), ("SCCP", "chan_sccp")])
async def test_number_of_a_joiner_has_the_protocol_of_the_desk(
    people: People, family: str, kind: str
) -> None:
    await a_desk_phone(people.admin, mac=OTHER_MAC, phone_ip=OTHER_IP, software_type=family)
    await people.join(person("grace", block=BLOCK, template="office", mac=OTHER_MAC, pin=False))
    assert (await people.extension("300") or {})["type"] == kind


async def test_number_that_comes_back_has_another_password_than_at_the_successor(
    people: People,
) -> None:
    await people.join(*(person(name, block=BLOCK, pin=False) for name in ("ann", "bob")))
    number = await people.extension("300")
    assert number is not None

    async def password() -> str:
        async with people.office.api.container.database().read() as tx:
            return require(await tx.extensions.find(number["uuid"]), "extension").password

    passwords = [await password()]
    left = await handed(people, ("ann", "bob"))
    passwords.append(await password())
    undone = await people.undo(left["act"])
    passwords.append(await password())

    assert "300 is the person's again, with another password." in said(undone)
    assert len(set(passwords)) == 3
