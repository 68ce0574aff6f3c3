"""Starting a batch: access, selected phones, and refusals."""

from typing import Any

import pytest

from phoneprov_core.batches.commands import CreateBatch, WantedPhones
from phoneprov_core.batches.model import BatchState, Counts
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.phones.model import CreatePhone, PhonePatch
from phoneprov_core.profiles.model import Profile, ProfilePatch
from support.floor import FLOOR, begin, ended, phones_of
from support.office import Office
from support.records import a_mac
from support.switching import NOWHERE


async def test_batch_is_stored_before_it_runs(
    office: Office, root: Actor, profile: Profile
) -> None:
    batch = await begin(office, root, profile, at_once=3, per_minute=600)

    assert batch.phones == Counts(waiting=12, total=12)
    assert (batch.state, batch.ended_at, batch.user_uuid) == (
        BatchState.RUNNING,
        None,
        root.user_uuid,
    )
    assert (batch.profile_uuid, batch.profile_name, batch.revision) == (
        profile.uuid,
        "The floor",
        1,
    )
    assert (batch.location, batch.at_once, batch.per_minute) == (FLOOR, 3, 600)
    assert office.uploader.uploads == []
    await office.background.done()


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        ({"location": " 2ND FLOOR"}, range(1, 13)),
        ({"location": "cellar"}, [13]),
        ({"model": "cisco 7965"}, [14]),
        ({"software_type": "sip"}, [14]),
        ({"model": "7945", "location": "cellar", "software_type": "SCCP"}, [13]),
        ({"macs": (a_mac(14), "001bd4000002")}, [14, 2]),
    ],
)
async def test_batch_phones_are_selected_by_list_or_filter(
    office: Office, root: Actor, profile: Profile, filters: dict[str, Any], chosen: Any
) -> None:
    await office.phones.create(
        root, CreatePhone(mac=a_mac(13), model="CP-7945", location="Cellar", software_type="SCCP")
    )
    await office.phones.create(
        root, CreatePhone(mac=a_mac(14), model="CP-7965G", location="Roof", software_type="SIP")
    )
    await office.phones.create(
        root, CreatePhone(mac=a_mac(15), model="7965", location="Cellar", is_active=False)
    )

    batch = await begin(office, root, None, **filters)

    assert [phone.mac for phone in await phones_of(office, root, batch)] == [
        a_mac(number) for number in chosen
    ]
    await office.background.done()


async def test_batch_phone_listed_twice_is_included_once(
    office: Office, root: Actor, profile: Profile
) -> None:
    batch = await begin(office, root, None, macs=(a_mac(2), "001b.d400.0002", a_mac(1)))

    assert batch.phones.total == 2
    await office.background.done()


async def test_start_without_matching_phones_is_refused(
    office: Office, root: Actor, profile: Profile
) -> None:
    with pytest.raises(Conflict) as raised:
        await begin(office, root, profile, location="3rd floor")

    assert raised.value.code == "no_phones"
    assert (await office.batches.all(root)).first == []


async def test_start_with_missing_records_is_not_found(
    office: Office, root: Actor, profile: Profile
) -> None:
    with pytest.raises(NotFound, match=a_mac(99)):
        await begin(office, root, profile, macs=(a_mac(1), a_mac(99)))
    with pytest.raises(NotFound, match="revision"):
        await begin(office, root, profile, revision=2)
    unknown = CreateBatch(action="switch", profile_uuid=NOWHERE, model="7945")
    with pytest.raises(NotFound, match="profile"):
        await office.batches.start(root, unknown)
    for name in ("", NOWHERE):
        with pytest.raises(NotFound):
            await office.batches.get(root, name)
        with pytest.raises(NotFound):
            await office.batches.phones(root, name)
        with pytest.raises(NotFound):
            await office.batches.cancel(root, name)


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


async def test_batch_revision_is_the_newest_at_its_start(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml="<device>2</device>"))
    first = await begin(office, root, profile)
    await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml="<device>3</device>"))

    assert first.revision == 2
    await ended(office, root, first)
    assert {upload.content for upload in office.uploader.uploads} == {b"<device>2</device>"}

    office.uploader.uploads.clear()
    await ended(office, root, await begin(office, root, profile, revision=1, macs=(a_mac(1),)))
    assert office.uploader.uploads[0].content == (profile.cnf_xml or "").encode()


async def test_batches_and_their_phones_are_listed_in_pages(
    office: Office, root: Actor, profile: Profile
) -> None:
    batches = []
    for _ in range(3):
        office.clock.advance(1)
        batches.append(await ended(office, root, await begin(office, root, None)))

    listed = await office.batches.all(root, Window(limit=2, offset=1))
    assert (listed.first, listed.total) == (batches[1:], 3)

    done = await office.batches.phones(
        root, batches[0].uuid, WantedPhones(state="done"), Window(limit=5, offset=10)
    )
    assert ([phone.position for phone in done.first], done.total) == ([11, 12], 12)


async def test_inactive_phones_that_are_listed_fail(
    office: Office, root: Actor, profile: Profile
) -> None:
    await office.phones.update(root, a_mac(1), PhonePatch(is_active=False))

    batch = await ended(office, root, await begin(office, root, profile, macs=(a_mac(1),)))

    assert batch.phones == Counts(failed=1, total=1)
    (phone,) = await phones_of(office, root, batch)
    assert phone.message == "This phone is not active."
