"""Accounts follow the people of a directory, on every database."""

import asyncio
from typing import Any

import pytest

from contract.sync.conftest import ACTOR, Office, people, person
from phoneprov_core.features.sync.model import SyncRefused
from phoneprov_core.kernel.errors import Invalid
from support.records import a_company_contact, a_permission, an_assignment, an_extension


def problems(result: Any) -> list[tuple[str, str]]:
    return [(one.field, one.message) for one in result.problems]


async def test_new_people_become_accounts_without_password(office: Office) -> None:
    result = await office.sync(*people(3))

    users = await office.named()
    assert (result.written, result.count("created"), result.problems) == (True, 3, ())
    assert (users["user1"].email, users["user1"].phone) == ("user1@office.example", "+49 30 1")
    async with office.database.read() as tx:
        assert await tx.users.with_password("user1") is None


async def test_same_input_again_changes_nothing(office: Office) -> None:
    await office.sync(*people(3))
    before = await office.named()

    result = await office.sync(*people(3))

    assert (result.count("unchanged"), await office.named()) == (3, before)


async def test_renamed_person_keeps_the_account_and_a_new_one_may_get_the_name(
    office: Office,
) -> None:
    await office.sync(*people(2))
    ada = (await office.named())["user1"]
    renamed = person(1, sAMAccountName="ada", mail="ada@office.example")
    newcomer = person(3, sAMAccountName="user1", mail="user1@office.example")

    result = await office.sync(newcomer, person(2), renamed)

    users = await office.named()
    assert result.problems == ()
    assert users["ada"].uuid == ada.uuid != users["user1"].uuid


async def test_people_who_swap_names_and_addresses_keep_their_accounts(office: Office) -> None:
    await office.sync(*people(2))
    before = await office.named()
    first = person(1, sAMAccountName="user2", mail="user2@office.example")
    second = person(2, sAMAccountName="user1", mail="user1@office.example")

    await office.sync(first, second)

    users = await office.named()
    assert users["user2"].uuid == before["user1"].uuid
    assert users["user1"].email == "user1@office.example"
    last = [one for one in await office.entries() if one.action == "user.updated"]
    names = {one.resource_id: one.changes["username"] for one in last}
    assert names == {
        before["user1"].uuid: {"old": "user1", "new": "user2"},
        before["user2"].uuid: {"old": "user2", "new": "user1"},
    }


async def test_person_out_of_scope_is_deactivated_and_active_after_the_return(
    office: Office,
) -> None:
    await office.sync(*people(6))

    gone = await office.sync(*people(5))
    inactive = (await office.named())["user6"]
    back = await office.sync(*people(6))

    assert (gone.left, inactive.is_active) == (("user6",), False)
    assert (await office.named())["user6"].is_active
    assert back.count("updated") == 1


async def test_missing_people_stay_active_with_keep(office: Office) -> None:
    await office.sync(*people(3))

    result = await office.sync(person(1), missing_="keep")

    assert (result.left, result.kept) == ((), 2)
    assert all(user.is_active for user in (await office.named()).values())


async def test_disabled_account_is_deactivated(office: Office) -> None:
    await office.sync(*people(2))

    await office.sync(person(1, userAccountControl="514"), person(2))

    assert not (await office.named())["user1"].is_active


@pytest.mark.parametrize("flag", ["nsAccountLock", "loginDisabled"])
async def test_locks_of_other_directories_deactivate(office: Office, flag: str) -> None:
    locked = person(1, userAccountControl=None, **{flag: "TRUE"})

    await office.sync(locked, person(2, userAccountControl=None, **{flag: "FALSE"}))

    users = await office.named()
    assert (users["user1"].is_active, users["user2"].is_active) == (False, True)


async def test_number_that_another_person_gets_moves(office: Office) -> None:
    await office.sync(*people(2))

    await office.sync(person(1, telephoneNumber=None), person(2, telephoneNumber="+49 30 1"))

    users = await office.named()
    assert (users["user1"].phone, users["user2"].phone) == (None, "+49 30 1")


async def test_attribute_that_no_entry_has_changes_nothing(office: Office) -> None:
    """The search did not ask for it."""
    await office.sync(*people(2))

    result = await office.sync(*(person(one, telephoneNumber=None) for one in (1, 2)))

    assert result.count("unchanged") == 2
    assert (await office.named())["user1"].phone == "+49 30 1"


async def test_accounts_of_no_source_are_never_touched(office: Office) -> None:
    bob = await office.add("bob")

    await office.sync(*people(2))

    assert (await office.named())["bob"] == bob


async def test_account_of_the_same_name_is_reported_unless_adopted(office: Office) -> None:
    local = await office.add("user1", location="Hall")

    refused = await office.sync(*people(2))
    untouched = (await office.named())["user1"]
    adopted = await office.sync(*people(2), adopt=True)

    assert problems(refused) == [
        ("username", "is in use by an account of no source (--adopt links the same username)")
    ]
    assert (refused.count("created"), untouched) == (1, local)
    user = (await office.named())["user1"]
    assert (user.uuid, user.location, user.email) == (local.uuid, "Hall", "user1@office.example")
    assert adopted.problems == ()
    assert ("sync.adopted", local.uuid) in [
        (one.action, one.resource_id) for one in await office.entries()
    ]


async def test_account_of_another_source_is_not_adopted(office: Office) -> None:
    await office.sync(*people(2))

    result = await office.sync(person(9, sAMAccountName="user1"), source="entra", adopt=True)

    assert problems(result) == [("username", "is in use by an account of the source ad")]
    assert not result.count("created")


async def test_wrong_entry_is_left_out_and_its_person_is_not_missing(office: Office) -> None:
    await office.sync(*people(3))

    wrong = await office.sync(person(1, mail=None), person(2, mail="none"), person(3, sn="New"))

    users = await office.named()
    assert problems(wrong) == [
        ("email", "is required"), ("email", "must be an e-mail address"),
    ]  # fmt: skip
    assert (wrong.written, wrong.failed, wrong.left) == (True, 2, ())
    assert users["user3"].last_name == "New"
    assert users["user1"].is_active


async def test_entry_without_key_leaves_every_missing_person_active(office: Office) -> None:
    """It may be the missing one."""
    await office.sync(*people(2))

    result = await office.sync(person(1), "dn: CN=x\nsAMAccountName: x\n\n")

    assert problems(result) == [("key", "is required")]
    assert (result.left, result.kept) == ((), 1)


async def test_input_without_keys_is_refused(office: Office) -> None:
    with pytest.raises(Invalid, match="objectguid or entryuuid"):
        await office.sync("dn: CN=x\nsAMAccountName: x\n\n")


async def test_two_entries_of_one_key_are_reported(office: Office) -> None:
    result = await office.sync(person(1), person(1, sAMAccountName="other"))

    assert problems(result) == [("key", "is on line 1 already")]


async def test_two_people_of_one_name_are_reported(office: Office) -> None:
    result = await office.sync(person(1), person(2, sAMAccountName="USER1"), person(3))

    assert problems(result) == [("username", "is in use by another person of the input")]
    assert sorted(await office.named()) == ["user1", "user3"]


async def test_name_that_its_holder_keeps_after_all_is_not_given_away(office: Office) -> None:
    """User 1 cannot be renamed, so that user 2 cannot get the name."""
    await office.sync(*people(3))

    result = await office.sync(
        person(1, sAMAccountName="user3"), person(2, sAMAccountName="user1"), person(3)
    )

    assert result.failed == 2
    assert sorted(await office.named()) == ["user1", "user2", "user3"]


@pytest.mark.parametrize("text", ["", "# refldap://office.example/\n\n"])
async def test_empty_input_writes_nothing(office: Office, text: str) -> None:
    await office.sync(*people(2))

    with pytest.raises(SyncRefused, match="empty"):
        await office.sync(text)

    assert all(user.is_active for user in (await office.named()).values())


async def test_half_an_answer_writes_nothing(office: Office) -> None:
    await office.sync(*people(20))

    with pytest.raises(SyncRefused) as refused:
        await office.sync(*people(10))

    assert refused.value.message == (
        "Nothing was written: 10 of 20 people of ad would be deactivated (10) or renamed (0), "
        "more than 5."
    )
    assert all(user.is_active for user in (await office.named()).values())


async def test_too_many_new_names_write_nothing(office: Office) -> None:
    await office.sync(*people(8))
    renamed = [person(one, sAMAccountName=f"new{one}") for one in range(1, 9)]

    with pytest.raises(SyncRefused, match=r"renamed \(8\)"):
        await office.sync(*renamed)
    await office.sync(*renamed, most=100)

    assert sorted(await office.named()) == [f"new{one}" for one in range(1, 9)]


async def test_five_people_may_always_leave_and_a_share_of_a_large_source(office: Office) -> None:
    await office.sync(*people(70))

    allowed = await office.sync(*people(63))
    with pytest.raises(SyncRefused):
        await office.sync(*people(56))

    assert len(allowed.left) == 7


async def test_last_account_of_level_0_stays_active(office: Office) -> None:
    await office.sync(*people(2))
    boss = (await office.named())["user2"]
    async with office.database.write(by=ACTOR) as tx:
        await tx.permissions.add(a_permission(1))
        await tx.assignments.assign(an_assignment(boss.uuid, a_permission(1).uuid))

    dry = await office.sync(person(1), dry_run=True)
    missing = await office.sync(person(1))
    disabled = await office.sync(person(1), person(2, userAccountControl="514", sn="New"))

    message = "user2 stays active: no other active account holds level 0"
    assert problems(dry) == problems(missing) == problems(disabled) == [("", message)]
    assert (dry.left, missing.left) == ((), ())
    user = (await office.named())["user2"]
    assert (user.is_active, user.last_name) == (True, "New")
    assert dict(disabled.people[1].changes) == {"last_name": {"old": "Name2", "new": "New"}}


async def test_dry_run_reports_and_writes_nothing(office: Office) -> None:
    await office.sync(*people(2))
    before, entries = await office.named(), await office.entries()

    result = await office.sync(person(1, sAMAccountName="ada"), person(3), dry_run=True)

    assert (result.written, result.left, result.count("created")) == (False, ("user2",), 1)
    assert dict(result.people[0].changes) == {"username": {"old": "user1", "new": "ada"}}
    assert (await office.named(), await office.entries()) == (before, entries)


async def test_each_change_has_one_entry_and_the_sync_has_one(office: Office) -> None:
    await office.sync(*people(3))
    await office.sync(person(1, sn="New"), person(2))

    entries = await office.entries()
    assert [(one.actor, one.action) for one in entries] == [
        *[("system", "user.created")] * 3,
        ("system", "sync.finished"),
        *[("system", "user.updated")] * 2,
        ("system", "sync.finished"),
    ]
    counts = {name: change["new"] for name, change in entries[-1].changes.items()}
    assert entries[-1].resource_id == "ad"
    assert counts == {
        "created": 0, "updated": 1, "unchanged": 1, "deactivated": 1, "kept": 0, "wrong": 0,
    }  # fmt: skip


async def test_deleted_account_comes_back_as_a_new_one(office: Office) -> None:
    await office.sync(*people(2))
    await office.users.delete(ACTOR, (await office.named())["user1"].uuid)

    result = await office.sync(*people(2))
    again = await office.sync(*people(2))

    assert (result.count("created"), again.count("unchanged")) == (1, 2)


async def test_username_that_is_an_extension_is_left_out(office: Office) -> None:
    async with office.database.write(by=ACTOR) as tx:
        await tx.extensions.add(an_extension(1, extension="1001"))

    result = await office.sync(person(1, sAMAccountName="1001"), person(2))

    assert problems(result) == [("username", "is the number of an extension")]
    assert sorted(await office.named()) == ["user2"]


async def test_contacts_follow_the_people(office: Office) -> None:
    await office.sync(person(1, mobile="0170 1"), person(2), contacts=True)
    first = await office.contacts()
    await office.sync(person(1, mobile="0170 2"), contacts=True)
    second = await office.contacts()
    await office.sync(person(1, mobile="0170 2"), person(2), contacts=True)

    assert [(one.name, one.work, one.mobile) for one in first] == [
        ("Given Name1", "+49 30 1", "0170 1"),
        ("Given Name2", "+49 30 2", None),
    ]
    assert [(one.mobile, one.is_active) for one in second] == [("0170 2", True), (None, False)]
    assert [one.is_active for one in await office.contacts()] == [True, True]


async def test_contact_of_the_same_address_is_adopted(office: Office) -> None:
    async with office.database.write(by=ACTOR) as tx:
        await tx.company_contacts.add(a_company_contact(1, email="USER1@office.example"))

    await office.sync(*people(2), contacts=True, adopt=True)

    assert [one.name for one in await office.contacts()] == ["Given Name1", "Given Name2"]


async def test_two_at_a_time_create_each_person_once(office: Office) -> None:
    results = await asyncio.gather(
        *(office.sync(*people(30)) for _ in range(2)), return_exceptions=True
    )

    done = [one for one in results if not isinstance(one, BaseException)]
    assert done
    assert all(isinstance(one, SyncRefused) for one in results if one not in done)
    assert sum(one.count("created") for one in done) == 30
    assert len(await office.named()) == 30
