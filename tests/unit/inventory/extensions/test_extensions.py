"""Extensions, over the memory database."""

import msgspec
import pytest

from phoneprov_core.inventory.extensions import CreateExtension, Extension, ExtensionPatch
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from support.office import Office
from support.records import identifier

ADMIN = Actor(identifier(0xAD), level=0, ip="10.1.1.1")
ROOT = Actor(identifier(0xAE), level=0, ip="10.1.1.2")


async def stored(office: Office) -> list[Extension]:
    async with office.database.read() as tx:
        return await tx.extensions.rows(100)


def new(number: str = "1001") -> CreateExtension:
    return CreateExtension(
        type="chan_sccp",
        extension=number,
        name="Desk",
        password="line secret",
        voicemail_passcode="2468",
    )


@pytest.fixture
async def desk(office: Office) -> Extension:
    return await office.extensions.create(ADMIN, new())


async def test_new_extension_has_its_creator_and_no_last_editor(
    office: Office, desk: Extension
) -> None:
    assert desk == Extension(
        uuid=identifier(1),
        type="chan_sccp",
        extension="1001",
        name="Desk",
        password="line secret",
        description=None,
        voicemail=False,
        voicemail_passcode="2468",
        is_active=True,
        created_at="2026-01-31T08:15:30.250Z",
        created_by=ADMIN.user_uuid,
        updated_at="2026-01-31T08:15:30.250Z",
        updated_by=None,
        created_ip="10.1.1.1",
        updated_ip="10.1.1.1",
    )
    assert await stored(office) == [desk]
    assert await office.extensions.get(ADMIN, desk.uuid.upper()) == desk


async def test_update_records_account_time_and_address(office: Office, desk: Extension) -> None:
    office.clock.advance(60)

    changed = await office.extensions.update(
        ROOT, desk.uuid, ExtensionPatch(password="another", voicemail_passcode=None)
    )

    assert changed == msgspec.structs.replace(
        desk,
        password="another",
        voicemail_passcode=None,
        updated_at="2026-01-31T08:16:30.250Z",
        updated_by=ROOT.user_uuid,
        updated_ip="10.1.1.2",
    )
    assert await stored(office) == [changed]


async def test_password_null_keeps_the_stored_one(office: Office, desk: Extension) -> None:
    for patch in (
        ExtensionPatch(name="Lab", password=None),
        command_of(ExtensionPatch, {"name": "Lab", "password": None}),
    ):
        changed = await office.extensions.update(ADMIN, desk.uuid, patch)

        assert changed.name == "Lab"
        assert changed.password == "line secret"
        assert await stored(office) == [changed]
