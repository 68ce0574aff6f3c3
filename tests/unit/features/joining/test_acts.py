"""People who join, leave and come back, over the adapters in memory that are shipped."""

from collections.abc import AsyncIterator

import pytest

from phoneprov_adapters.composition.embedding import InMemory, open_in_memory
from phoneprov_core.features.joining.model import (
    ActRefused,
    Joiner,
    JoinRequest,
    Leaver,
    LeaveRequest,
    Moved,
    UndoRequest,
)
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.kernel.actor import SUPERADMIN, Actor
from phoneprov_core.kernel.errors import Forbidden, Refused
from phoneprov_core.people.access import NeedsLogin
from support.records import a_mac, identifier

MAC, BLOCK = a_mac(1), "300-349"
FILE = f"SEP{MAC.replace(':', '')}.cnf.xml"


@pytest.fixture
async def office() -> AsyncIterator[InMemory]:
    async with open_in_memory() as app:
        operator = app.system_actor()
        new = CreatePhone(mac=MAC, phone_ip="10.0.0.5", software_type="SCCP")
        await app.phones.create(operator, new)
        template = CreateTemplate(name="office", body="<device>{{ user.username }}</device>")
        await app.templates.create(operator, template)
        yield app


def joiner(name: str, **fields: object) -> Joiner:
    return Joiner(
        first_name=name.title(), last_name="Byron", username=name, email=f"{name}@office.example",
        **{"block": BLOCK, **fields},  # type: ignore[arg-type]
    )  # fmt: skip


async def join(office: InMemory, *people: Joiner, dry_run: bool = False) -> Moved:
    request = JoinRequest(people=people, dry_run=dry_run)
    return await office.join_people(office.system_actor(), request)


async def leave(office: InMemory, *names: str, dry_run: bool = False) -> Moved:
    people = tuple(Leaver(username=name) for name in names)
    request = LeaveRequest(people=people, dry_run=dry_run)
    return await office.leave_people(office.system_actor(), request)


def on_phone(office: InMemory) -> str:
    [files] = office.uploader.files.values()
    return files[FILE].decode()


def outcomes(moved: Moved) -> dict[str, str]:
    return {step.part: step.outcome for step in moved.people[0].steps}


async def test_twelve_people_join_at_once_and_get_twelve_numbers(office: InMemory) -> None:
    moved = await join(office, *(joiner(f"person{number}") for number in range(12)))
    assert [one.number for one in moved.people] == [str(300 + number) for number in range(12)]
    assert len({one.pin for one in moved.people}) == 12


async def test_join_leave_and_undo_bring_the_phone_each_configuration(office: InMemory) -> None:
    await join(office, joiner("grace", template="office", mac=MAC))
    assert on_phone(office) == "<device>grace</device>"
    left = await leave(office, "grace")
    assert outcomes(left)["phone"] == "done"
    assert "grace" not in on_phone(office)
    assert left.act is not None
    await office.undo_act(office.system_actor(), UndoRequest(act=left.act))
    assert on_phone(office) == "<device>grace</device>"


async def test_dry_run_of_an_act_writes_nothing(office: InMemory) -> None:
    foretold = await join(office, joiner("grace", template="office", mac=MAC), dry_run=True)
    assert (foretold.written, foretold.act, office.uploader.files) == (False, None, {})
    with pytest.raises(ActRefused) as refused:
        await leave(office, "grace", dry_run=True)
    assert [one.field for one in refused.value.problems] == ["people[0].username"]


async def test_phone_that_fails_after_a_leave_is_named_with_its_profile(office: InMemory) -> None:
    await join(office, joiner("grace", template="office", mac=MAC))
    office.uploader.fail_next(Refused("The server hung up."))
    moved = await leave(office, "grace")
    [failed] = [step for step in moved.people[0].steps if step.outcome == "failed"]
    assert (failed.mac, failed.message) == (MAC, f"{MAC}: The server hung up.")
    profile = await office.profiles.get(office.system_actor(), failed.profile_uuid or "")
    assert profile.name == "Empty"


async def test_act_needs_level_0_and_a_pin_a_login(office: InMemory) -> None:
    stranger = Actor(identifier(7), level=None)
    requests = JoinRequest(people=(joiner("grace"),)), LeaveRequest(people=(Leaver(username="a"),))
    with pytest.raises(Forbidden):
        await office.join_people(stranger, requests[0])
    with pytest.raises(Forbidden):
        await office.leave_people(stranger, requests[1])
    with pytest.raises(Forbidden):
        await office.undo_act(stranger, UndoRequest(act=identifier(8)))
    script = Actor(identifier(9), level=SUPERADMIN, token="script")
    with pytest.raises(NeedsLogin):
        await office.join_people(script, requests[0])
