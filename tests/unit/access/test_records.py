"""Access to each kind of record that has the four operations, and missing records of each kind."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, cast

import pytest
from msgspec import Struct

from phoneprov_core.access.model import CreatePermission, PermissionPatch
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.directory.model import CompanyContactPatch, CreateCompanyContact
from phoneprov_core.extensions import CreateExtension, ExtensionPatch
from phoneprov_core.kems import CreateKem, KemPatch
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, NotFound
from phoneprov_core.phones.model import CreatePhone, PhonePatch
from phoneprov_core.users.model import CreateUser, UserPatch
from support.office import PASSWORD, Office, Settings
from support.switching import NOWHERE

UNREADABLE: Any = cast(Any, None)
"""A command that fails when it is read."""


class Kind(NamedTuple):
    """A kind of record: its word in messages, a new one, and a change. ``key`` is the field that
    identifies it, ``missing`` a key that no record has."""

    one: str
    new: Struct
    patch: Struct
    key: str = "uuid"
    missing: str = NOWHERE


CLEO = CreateUser(
    first_name="Cleo",
    last_name="Patra",
    username="cleo",
    email="cleo@example.com",
    password=PASSWORD,
)
DESK = CreateExtension(type="chan_sccp", extension="1001", name="Desk", password="line secret")
CONTACT = CreateCompanyContact(name="Grace")
# The names are those of the stores of a transaction.
OF_LEVEL_0 = {
    "users": Kind("user", CLEO, UserPatch(location="Berlin")),
    "permissions": Kind(
        "permission", CreatePermission(level=5, name="a"), PermissionPatch(name="b")
    ),
    "extensions": Kind("extension", DESK, ExtensionPatch(name="Lab")),
}
SHARED = {
    "phones": Kind(
        "phone",
        CreatePhone(mac="00:1B:D4:12:34:56"),
        PhonePatch(brand="Cisco"),
        key="mac",
        missing="00:1B:D4:65:43:21",
    ),
    "kems": Kind("KEM", CreateKem(), KemPatch(model="CKEM")),
    "company_contacts": Kind("company contact", CONTACT, CompanyContactPatch(name="Mary")),
}
KINDS = OF_LEVEL_0 | SHARED


def use_cases(office: Office, name: str) -> Any:
    return office.company_directory if name == "company_contacts" else getattr(office, name)


async def stored(office: Office, name: str) -> list[Any]:
    async with office.database.read() as tx:
        records: list[Any] = await getattr(tx, name).rows(100)
        return records


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("text", ["missing", "nonsense", "", "ff:ff:ff:ff:ff:ff"])
async def test_missing_record_is_not_found_before_the_patch_is_read(
    office: Office, root: Actor, name: str, text: str
) -> None:
    kind, of = KINDS[name], use_cases(office, name)
    await of.create(root, kind.new)
    before = await stored(office, name)
    key = kind.missing if text == "missing" else text
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: of.get(root, key),
        lambda: of.update(root, key, UNREADABLE),
        lambda: of.delete(root, key),
    ]

    for call in calls:
        with pytest.raises(NotFound, match=f"no such {kind.one}"):
            await call()
    assert await stored(office, name) == before


@pytest.mark.parametrize("name", KINDS)
async def test_write_without_level_0_is_forbidden_before_anything_is_read(
    office: Office, root: Actor, ada: Actor, bob: Actor, name: str
) -> None:
    kind, of = KINDS[name], use_cases(office, name)
    record = await of.create(root, kind.new)
    before = await stored(office, name)

    for actor in (ada, bob):
        with pytest.raises(Forbidden):
            await of.create(actor, UNREADABLE)
        for key in (getattr(record, kind.key), kind.missing):
            with pytest.raises(Forbidden):
                await of.update(actor, key, UNREADABLE)
            with pytest.raises(Forbidden):
                await of.delete(actor, key)
    assert await stored(office, name) == before


@pytest.mark.parametrize("name", OF_LEVEL_0)
async def test_read_of_administrative_records_without_level_0_is_forbidden(
    office: Office, root: Actor, ada: Actor, bob: Actor, name: str
) -> None:
    kind, of = KINDS[name], use_cases(office, name)
    record = await of.create(root, kind.new)

    for actor in (ada, bob):
        with pytest.raises(Forbidden):
            await of.all(actor)
        for key in (record.uuid, kind.missing):
            with pytest.raises(Forbidden):
                await of.get(actor, key)


@pytest.mark.parametrize("name", SHARED)
async def test_shared_record_is_read_by_every_account(
    office: Office, root: Actor, bob: Actor, name: str
) -> None:
    kind, of = KINDS[name], use_cases(office, name)
    record = await of.create(root, kind.new)

    assert await of.get(bob, getattr(record, kind.key)) == record
    assert (await of.all(bob)).first == [record]


@pytest.mark.parametrize("name", SHARED)
async def test_shared_record_is_written_by_every_account_with_the_setting(name: str) -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))
    kind, of = KINDS[name], use_cases(office, name)
    bob = await office.add_user("bob")

    record = await of.create(bob, kind.new)
    changed = await of.update(bob, getattr(record, kind.key), kind.patch)
    assert await stored(office, name) == [changed]
    await of.delete(bob, getattr(record, kind.key))
    assert await stored(office, name) == []
