"""A batch that brings a firmware load starts no phone unless all its files are there."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from phoneprov_adapters.provisioning.folder import Folder
from phoneprov_core.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.batches.model import BatchState
from phoneprov_core.batches.plan import PlanBatch
from phoneprov_core.devices.loads import load_to_fetch
from phoneprov_core.kernel.system import shown
from phoneprov_core.profiles.model import CreateProfile
from phoneprov_core.provisioning.loads import CheckLoad
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
    at = shown(floor.clock() + timedelta(hours=1)) if is_planned else None
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
    ("new", "old", "load"),
    [
        (XML, None, LOAD),
        (XML, "<device/>", LOAD),
        (XML, XML.replace("4-2S", "3-1S"), LOAD),
        (XML, XML.replace("</", " </"), None),
        ("<device><loadInformation/></device>", XML, None),
        (XML.replace("</device>", "<loadServer>10.0.0.9</loadServer></device>"), None, None),
        (XML.replace("</device>", "<loadServer/></device>"), None, LOAD),
        ("<device><addOn><loadInformation>B016</loadInformation></addOn></device>", None, None),
    ],
)
def test_load_of_a_configuration_is_that_of_the_phone(
    new: str, old: str | None, load: str | None
) -> None:
    assert load_to_fetch(new, old) == load
