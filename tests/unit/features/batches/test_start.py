"""Starting a batch: access, selected phones, and refusals."""

from typing import Any

import pytest

from phoneprov_core.features.batches.commands import CreateBatch, WantedPhones
from phoneprov_core.features.batches.model import BatchState, Counts
from phoneprov_core.inventory.phones.model import CreatePhone, PhonePatch
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound
from phoneprov_core.kernel.ports import Window
from support.floor import FLOOR, Floor
from support.records import a_mac
from support.switching import NOWHERE


async def test_batch_is_stored_before_it_runs(floor: Floor) -> None:
    batch = await floor.begin(at_once=3, per_minute=600)

    assert batch.phones == Counts(waiting=12, total=12)
    assert (batch.state, batch.ended_at, batch.user_uuid) == (
        BatchState.RUNNING,
        None,
        floor.root.user_uuid,
    )
    assert (batch.profile_uuid, batch.profile_name, batch.revision) == (
        floor.profile.uuid,
        "The floor",
        1,
    )
    assert (batch.location, batch.at_once, batch.per_minute) == (FLOOR, 3, 600)
    assert floor.uploader.uploads == []
    await floor.background.done()


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        ({"location": " 2ND FLOOR"}, range(1, 13)),
        ({"location": "cellar"}, [13]),
        ({"model": "cisco 7965"}, [14]),
        ({"software_type": "sip"}, [14]),
        ({"model": "7945", "location": "cellar", "software_type": "SCCP"}, [13]),
        ({"macs": (a_mac(14), "001bd4000002", "001b.d400.000e")}, [14, 2]),
    ],
)
async def test_batch_phones_are_selected_by_list_or_filter(
    floor: Floor, filters: dict[str, Any], chosen: Any
) -> None:
    for phone in (
        CreatePhone(mac=a_mac(13), model="CP-7945", location="Cellar", software_type="SCCP"),
        CreatePhone(mac=a_mac(14), model="CP-7965G", location="Roof", software_type="SIP"),
        CreatePhone(mac=a_mac(15), model="7965", location="Cellar", is_active=False),
    ):
        await floor.phones.create(floor.root, phone)

    batch = await floor.begin_without(**filters)

    assert [phone.mac for phone in await floor.phones_of(batch)] == [
        a_mac(number) for number in chosen
    ]
    await floor.background.done()


async def test_start_without_matching_phones_is_refused(floor: Floor) -> None:
    with pytest.raises(Conflict) as raised:
        await floor.begin(location="3rd floor")

    assert raised.value.code == "no_phones"
    assert (await floor.batches.all(floor.root)).first == []


async def test_start_with_missing_records_is_not_found(floor: Floor) -> None:
    with pytest.raises(NotFound, match=a_mac(99)):
        await floor.begin(macs=(a_mac(1), a_mac(99)))
    with pytest.raises(NotFound, match="revision"):
        await floor.begin(revision=2)
    unknown = CreateBatch(action="switch", profile_uuid=NOWHERE, model="7945")
    with pytest.raises(NotFound, match="profile"):
        await floor.batches.start(floor.root, unknown)
    for name in ("", NOWHERE):
        with pytest.raises(NotFound):
            await floor.batches.get(floor.root, name)
        with pytest.raises(NotFound):
            await floor.batches.phones(floor.root, name)
        with pytest.raises(NotFound):
            await floor.batches.cancel(floor.root, name)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "delete", "location": "x"}, "action"),
        ({"action": "restart"}, "macs"),
        ({"action": "restart", "model": ""}, "macs"),
        ({"action": "restart", "macs": []}, "macs"),
        ({"action": "restart", "macs": ["nonsense"]}, "macs"),
        ({"action": "restart", "macs": [a_mac(1)], "model": "7945"}, "model"),
        ({"action": "restart", "location": "x", "profile_uuid": NOWHERE}, "profile_uuid"),
        ({"action": "switch", "location": "x", "revision": 1}, "profile_uuid"),
        ({"action": "switch", "location": "x", "revision": 0}, "revision"),
        ({"action": "restart", "location": "x", "at_once": 0}, "at_once"),
        ({"action": "restart", "location": "x", "at_once": 101}, "at_once"),
        ({"action": "restart", "location": "x", "per_minute": 0}, "per_minute"),
        ({"action": "restart", "location": "x", "stop_after_failures": 101}, "stop_after_failures"),
        ({"action": "restart", "location": "x", "wait_minutes": 1441}, "wait_minutes"),
        ({"action": "restart", "location": "x", "speed": 9}, "speed"),
    ],
)
def test_start_contradictory_fields_are_named(body: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as raised:
        command_of(CreateBatch, body)

    assert field in [problem.field for problem in raised.value.problems]


def test_batch_of_5000_listed_phones_is_accepted() -> None:
    macs = tuple(a_mac(number) for number in range(1, 5002))

    assert len(CreateBatch(action="restart", macs=macs[:5000]).macs or ()) == 5000
    with pytest.raises(Invalid, match="at most 5000"):
        CreateBatch(action="restart", macs=macs)


async def test_batch_revision_is_the_newest_at_its_start(floor: Floor) -> None:
    await floor.save("<device>2</device>")
    first = await floor.begin()
    await floor.save("<device>3</device>")

    assert first.revision == 2
    await floor.ended(first)
    assert {upload.content for upload in floor.uploader.uploads} == {b"<device>2</device>"}

    floor.uploader.uploads.clear()
    await floor.run(revision=1, macs=(a_mac(1),))
    assert floor.uploader.uploads[0].content == (floor.profile.cnf_xml or "").encode()


async def test_batches_and_their_phones_are_listed_in_pages(floor: Floor) -> None:
    batches = []
    for _ in range(3):
        floor.clock.advance(1)
        batches.append(await floor.run_without())

    listed = await floor.batches.all(floor.root, Window(limit=2, offset=1))
    assert (listed.first, listed.total) == (batches[1:], 3)

    done = await floor.batches.phones(
        floor.root, batches[0].uuid, WantedPhones(state="done"), Window(limit=5, offset=10)
    )
    assert ([phone.position for phone in done.first], done.total) == ([11, 12], 12)


async def test_inactive_phones_that_are_listed_fail(floor: Floor) -> None:
    await floor.phones.update(floor.root, a_mac(1), PhonePatch(is_active=False))

    batch = await floor.run(macs=(a_mac(1),))

    assert batch.phones == Counts(failed=1, total=1)
    (phone,) = await floor.phones_of(batch)
    assert phone.message == "This phone is not active."
