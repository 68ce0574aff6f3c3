"""Key expansion modules, over the memory database."""

import msgspec
import pytest

from phoneprov_adapters.testing.records import identifier
from phoneprov_core.kems import CreateKem, Kem, KemPatch
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.paging import Window
from support.office import Office

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)


async def stored(office: Office) -> list[Kem]:
    async with office.database.read() as tx:
        return await tx.kems.rows(100)


@pytest.fixture
async def kem(office: Office) -> Kem:
    new = CreateKem(
        model="CP-7916", mac="001bd4654321", connected_phone="001b.d412.3456", ip="::0:1"
    )
    return await office.kems.create(ADMIN, new)


async def test_kem_create_before_its_phone_is_canonical(office: Office, kem: Kem) -> None:
    assert kem == Kem(
        uuid=identifier(1),
        model="CP-7916",
        mac="00:1B:D4:65:43:21",
        ip="::1",
        connected_phone="00:1B:D4:12:34:56",
        software_version=None,
        software_type=None,
        created_at="2026-01-31T08:15:30.250Z",
    )
    assert await stored(office) == [kem]


async def test_kem_create_requires_no_field(office: Office) -> None:
    one = await office.kems.create(ADMIN, CreateKem())
    other = await office.kems.create(ADMIN, CreateKem())

    assert one.uuid != other.uuid
    assert set(msgspec.structs.astuple(one)) == {one.uuid, one.created_at, None}


async def test_kems_are_readable_by_every_account(office: Office, kem: Kem) -> None:
    assert await office.kems.get(ADA, kem.uuid.upper()) == kem
    assert await (await office.kems.all(ADA)).everything() == [kem]


async def test_list_page_has_its_total(office: Office, kem: Kem) -> None:
    office.clock.advance(1)
    younger = await office.kems.create(ADMIN, CreateKem())

    page = await office.kems.all(ADA, Window(limit=1, offset=1))

    assert page.first == [younger]
    assert page.total == 2


async def test_update_keeps_other_fields(office: Office, kem: Kem) -> None:
    office.clock.advance(60)

    changed = await office.kems.update(
        ADMIN, kem.uuid, KemPatch(connected_phone=None, software_type="SCCP")
    )

    assert changed == msgspec.structs.replace(kem, connected_phone=None, software_type="SCCP")
    assert await stored(office) == [changed]


async def test_kem_is_deleted(office: Office, kem: Kem) -> None:
    await office.kems.delete(ADMIN, kem.uuid)

    assert await stored(office) == []


@pytest.mark.parametrize("command", [CreateKem, KemPatch])
def test_kem_built_in_code_is_validated(
    command: type[CreateKem | KemPatch],
) -> None:
    with pytest.raises(Invalid) as invalid:
        command(
            model="\n",
            mac="00:00:00:00:00:00",
            ip="fe80::1%eth0",
            connected_phone="FF:FF:FF:FF:FF:FF",
            software_version="x" * 256,
            software_type="\x07",
        )

    assert [problem.field for problem in invalid.value.problems] == [
        "model",
        "mac",
        "ip",
        "connected_phone",
        "software_version",
        "software_type",
    ]
