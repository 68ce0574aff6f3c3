"""A batch that brings a firmware load starts no phone unless all its files are there."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from phoneprov_adapters.serving.uploader import Folder
from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.batches.model import BatchState
from phoneprov_core.features.batches.plan import PlanBatch
from phoneprov_core.features.fleet.states import FleetState, SeenPhone
from phoneprov_core.features.serving.bootstrap import CheckLoad
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.devices.names import NamedLoads, loads_to_fetch, runs_load
from support.floor import Floor
from support.office import compare_directly
from support.records import a_mac

LOAD = "SCCP45.9-4-2SR4-2S"
XML = f"<device><loadInformation>{LOAD}</loadInformation></device>"
WRONG = f"The load {LOAD} is not complete in PHONEPROV_FILES_DIR: missing"


@pytest.fixture
def check(floor: Floor, tmp_path: Path) -> CheckLoad:
    check = CheckLoad(Folder(tmp_path))
    floor.run_batches.work = dataclasses.replace(floor.run_batches.work, loads=check)
    return check


@pytest.fixture
async def new(floor: Floor) -> CreateBatch:
    """Three phones get a plain profile, the last one the load."""
    fields = CreateProfile(user_uuid=floor.root.user_uuid, name="New", cnf_xml=XML)
    other = await floor.profiles.create(floor.root, fields)
    profiles = [floor.profile, floor.profile, floor.profile, other]
    items = tuple(BatchTarget(a_mac(n), one.uuid) for n, one in enumerate(profiles, 1))
    return CreateBatch(action="switch", items=items)


@pytest.mark.parametrize("is_planned", [False, True])
async def test_batch_with_a_missing_load_stops_before_its_first_phone(
    floor: Floor, check: CheckLoad, new: CreateBatch, tmp_path: Path, is_planned: bool
) -> None:
    (tmp_path / f"{LOAD}.loads").write_bytes(b"\0apps45.sbn\0dsp45.sbn\0")
    (tmp_path / "apps45.sbn").write_bytes(b"x")
    at = timestamp(floor.clock() + timedelta(hours=1)) if is_planned else None
    new = CreateBatch(action="switch", items=new.items, start_at=at, undo_on_stop=True)
    plan = await PlanBatch(floor.database, floor.deploy, compare_directly, check)(floor.root, new)

    batch = await floor.batches.start(floor.root, new)
    if is_planned:
        await floor.background.done()
        floor.clock.advance(3601)
        await floor.run_batches()
    batch = await floor.ended(batch)

    assert (plan.changed, plan.unfit) == (3, 1)
    assert plan.problems[0].message == f"{WRONG} dsp45.sbn. The batch would start no phone."
    assert (batch.state, batch.message) == (BatchState.STOPPED, f"{WRONG} dsp45.sbn.")
    assert (batch.phones.left_out, floor.uploader.uploads) == (4, [])
    assert len(await floor.all_batches()) == 1  # nothing to undo


async def test_load_that_a_phone_has_is_not_looked_for(
    floor: Floor, check: CheckLoad, new: CreateBatch, tmp_path: Path
) -> None:
    files = [tmp_path / f"{LOAD}.loads", tmp_path / "dsp45.sbn"]
    for file in files:
        file.write_bytes(b"dsp45.sbn\0")

    first = await floor.ended(await floor.batches.start(floor.root, new))
    for file in files:
        file.unlink()
    again = await floor.ended(await floor.batches.start(floor.root, new))

    assert [(one.state, one.phones.done) for one in (first, again)] == [(BatchState.DONE, 4)] * 2


@pytest.mark.parametrize(
    ("reported", "state"),
    [
        (LOAD, BatchState.DONE),
        (LOAD.lower(), BatchState.DONE),
        ("jar45sccp.9-4-2SR4-2.sbn", BatchState.DONE),
        ("jar45sip.9-4-2SR4-2.sbn", BatchState.STOPPED),
        ("SCCP45.9-4-2SR3-1S", BatchState.STOPPED),
        (None, BatchState.STOPPED),
    ],
)
async def test_load_that_a_phone_reported_is_not_looked_for(
    floor: Floor, check: CheckLoad, new: CreateBatch, reported: str | None, state: BatchState
) -> None:
    async with floor.database.write() as tx:
        seen = SeenPhone(
            a_mac(4), FleetState.FINE, timestamp(floor.clock()), reported_load=reported
        )
        await tx.fleet.put(seen, is_change=False)

    plan = await PlanBatch(floor.database, floor.deploy, compare_directly, check)(floor.root, new)
    batch = await floor.ended(await floor.batches.start(floor.root, new))

    assert (batch.state, plan.unfit) == (state, 0 if state is BatchState.DONE else 1)


async def test_list_decides_whether_a_reported_file_is_of_the_load(
    floor: Floor, check: CheckLoad, new: CreateBatch, tmp_path: Path
) -> None:
    # The version of a file is not always that of its load; the list names both.
    (tmp_path / f"{LOAD}.LOADS").write_bytes(b"\0jar45sccp.9-4-2TH1-1.sbn\0dsp45.sbn\0")
    async with floor.database.write() as tx:
        seen = SeenPhone(a_mac(4), FleetState.FINE, timestamp(floor.clock()))
        seen = msgspec.structs.replace(seen, reported_load="jar45sccp.9-4-2TH1-1.sbn")
        await tx.fleet.put(seen, is_change=False)

    batch = await floor.ended(await floor.batches.start(floor.root, new))

    assert (batch.state, batch.message) == (BatchState.DONE, None)


MODULES = """<device><addOnModules><addOnModule idx="1"><loadInformation>B016-1-0-4-2
</loadInformation></addOnModule><addOnModule idx="2"><loadInformation>b016-1-0-4-2
</loadInformation></addOnModule></addOnModules></device>"""


async def test_load_of_a_module_is_looked_for(
    floor: Floor, check: CheckLoad, tmp_path: Path
) -> None:
    fields = CreateProfile(user_uuid=floor.root.user_uuid, name="New", cnf_xml=MODULES)
    profile = await floor.profiles.create(floor.root, fields)
    new = CreateBatch(action="switch", macs=(a_mac(1),), profile_uuid=profile.uuid)
    plan = PlanBatch(floor.database, floor.deploy, compare_directly, check)

    before = await plan(floor.root, new)
    (tmp_path / "B016-1-0-4-2.SBN").write_bytes(b"x")
    after = await plan(floor.root, new)

    assert (before.unfit, after.unfit) == (1, 0)
    assert "no file has the name B016-1-0-4-2.loads, B016-1-0-4-2.bin" in before.problems[0].message


async def test_load_with_an_ending_is_looked_for_as_the_phone_requests_it(
    floor: Floor, check: CheckLoad, tmp_path: Path
) -> None:
    (tmp_path / f"{LOAD}.loads").write_bytes(b"\0dsp45.sbn\0")
    (tmp_path / "dsp45.sbn").write_bytes(b"x")

    assert (await check(LOAD)).fault is None
    assert f"{LOAD}.loads.loads" in str((await check(f"{LOAD}.loads")).fault)


@pytest.mark.parametrize(
    ("new", "old", "phone", "modules"),
    [
        (XML, None, LOAD, ()),
        (XML, "<device/>", LOAD, ()),
        (XML, XML.replace("4-2S", "3-1S"), LOAD, ()),
        (XML, XML.replace("</", " </"), "", ()),
        (XML, XML.replace("SCCP45", "sccp45"), "", ()),
        ("<device><loadInformation/></device>", XML, "", ()),
        (XML.replace("</device>", "<loadServer>10.0.0.9</loadServer></device>"), None, "", ()),
        (XML.replace("</device>", "<loadServer/></device>"), None, LOAD, ()),
        ("<device><addOn><loadInformation>B016</loadInformation></addOn></device>", None, "", ()),
        (MODULES, None, "", ("B016-1-0-4-2", "b016-1-0-4-2")),
        (MODULES, XML, "", ("B016-1-0-4-2", "b016-1-0-4-2")),
        (MODULES, MODULES, "", ()),
        (
            MODULES.replace("</device>", "<loadServer>10.0.0.9</loadServer></device>"),
            None,
            "",
            (),
        ),
    ],
)
def test_loads_to_fetch_are_those_that_the_old_configuration_does_not_name(
    new: str, old: str | None, phone: str, modules: tuple[str, ...]
) -> None:
    assert loads_to_fetch(new, old) == NamedLoads(phone, modules)


@pytest.mark.parametrize(
    ("stated", "load", "runs"),
    [
        ("SCCP45.9-4-2SR3-1S", "sccp45.9-4-2sr3-1s", True),
        ("jar45sccp.9-4-2SR3-1.sbn", "SCCP45.9-4-2SR3-1S", True),
        ("jar45sccp.9-4-2SR3-1.SBN", "SIP45.9-4-2SR3-1S", False),
        ("jar41sccp.9-4-2SR3-1.sbn", "SCCP45.9-4-2SR3-1S", False),
        ("jar45sccp.9-4-2SR4-3", "SCCP45.9-4-2SR3-1S", False),
        ("apps45.9-4-2SR3-1.sbn", "SCCP45.9-4-2SR3-1S", False),
        ("SCCP 1.2.2.6", "SCCP69xx.9-2-1-0", False),
        ("CP7912080004SCCP080108A", "CP7912080004SCCP080108A", True),
        ("CP7912080004SCCP080108A", "CP7912080003SCCP070409A", False),
        ("", "SCCP45.9-4-2SR3-1S", False),
    ],
)
def test_phone_runs_a_load_if_its_statement_is_of_this_load(
    stated: str, load: str, runs: bool
) -> None:
    assert runs_load(stated, load) is runs
