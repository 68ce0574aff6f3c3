"""The way back to an earlier moment: what is restored, and what is named instead."""

import dataclasses
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.sql.engines.sqlite import SqliteReadConnection
from phoneprov_adapters.sql.stores.people import audit
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import BatchPhone, BatchState, PhoneState
from phoneprov_core.features.desks.occupancy import LOGIN_ENDED, DeskChange, with_change
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.fleet.model import Replacement
from phoneprov_core.inventory.phones.model import CreatePhone, PhonePatch
from phoneprov_core.inventory.profiles.model import ProfilePatch
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.switching.deployments.model import Action, Outcome
from phoneprov_core.switching.deployments.order import newest_request
from support.floor import FLOOR, Floor
from support.records import a_mac
from support.store_tests import existing
from support.switching import XML
from unit.features.batches.test_undo_desks import ADAS, LOBBY, NEW, OTHER, PHONE, UsedFloor

LEFT = " The phone was left unchanged."


class Monday(UsedFloor):
    """On Monday Ada is logged in at a phone, and another one has the lobby's profile. On Tuesday
    a rollout brings a new profile to both."""

    monday = ""

    async def furnish(self) -> None:
        await super().furnish()
        await self.switched(self.root, self.lobby, OTHER)
        self.clock.advance(60)
        self.monday = timestamp(self.clock())
        self.clock.advance(3600)
        for mac in (PHONE, OTHER):
            await self.switched(self.root, self.new, mac)
        self.clock.advance(3600)

    async def back(self, **more: Any) -> dict[str, BatchPhone]:
        """Restore the floor as of Monday, as planned; the phones by MAC."""
        wanted = {"as_of": self.monday, "location": FLOOR, **more}
        self.planned = await self.plan(**wanted)
        self.batches = dataclasses.replace(self.batches, background=self.background)
        self.batch = await self.run_without(action="switch", **wanted)
        return {one.mac: one for one in await self.phones_of(self.batch)}

    def texts(self) -> dict[str, bytes]:
        return {upload.filename: upload.content for upload in self.uploader.uploads}

    def has(self, mac: str, text: str) -> bool:
        return self.texts()[f"SEP{mac.replace(':', '')}.cnf.xml"] == text.encode()

    def refusals(self) -> dict[str, str]:
        return {mac: one.message for one in self.planned.problems for mac in one.macs}

    def noted(self, mac: str) -> list[str]:
        return [one.message for one in self.planned.notes if mac in one.macs]

    async def desk_of(self, mac: str) -> DeskRecord:
        async with self.database.read() as tx:
            return await tx.desks.find(mac)


@pytest.fixture
async def floor(monkeypatch: pytest.MonkeyPatch) -> Monday:
    office = Monday(phones=3)
    monkeypatch.setattr(audit, "system_clock", office.clock)
    await office.open()
    return office


async def test_files_and_logins_of_then_come_back_byte_for_byte(floor: Monday) -> None:
    phones = await floor.back()

    assert floor.has(PHONE, ADAS)
    assert floor.has(OTHER, LOBBY)
    assert (await floor.desk_of(PHONE)).user_uuid == floor.ada.user_uuid
    assert phones[PHONE].state is phones[OTHER].state is PhoneState.DONE
    assert phones[a_mac(3)].message == "Nothing was deployed to it." + LEFT
    assert floor.refusals() == {a_mac(3): "Nothing was deployed to it."}
    assert (floor.planned.phones, floor.planned.changed, floor.planned.unfit) == (3, 2, 1)


async def test_plan_asks_the_same_of_each_phone_however_much_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    for name in ("fetch_all", "fetch_one"):
        ask = getattr(SqliteReadConnection, name)

        async def noting(self: Any, statement: Any, ask: Any = ask, **values: Any) -> Any:
            asked.append(statement)
            return await ask(self, statement, **values)

        monkeypatch.setattr(SqliteReadConnection, name, noting)
    counts = {}
    for phones, rounds in ((4, 1), (8, 1), (8, 5)):
        office = Floor(phones=phones)
        monkeypatch.setattr(audit, "system_clock", office.clock)
        await office.open()
        await office.run()
        office.clock.advance(60)
        moment = timestamp(office.clock())
        for number in range(rounds):
            office.clock.advance(60)
            text = XML.replace("</device>", f"<n>{number}</n></device>")
            await office.run(await office.profile_of(office.ada, text, f"Later {number}"))
        asked.clear()
        plan = await office.plan(as_of=moment, location=FLOOR)
        assert plan.changed == phones
        counts[phones, rounds] = len(asked)

    assert counts[8, 5] == counts[8, 1]
    assert counts[8, 1] - counts[4, 1] <= 4 * 21


async def test_phones_that_have_their_file_are_not_restarted(floor: Monday) -> None:
    await floor.back()
    uploads = len(floor.uploader.uploads)

    phones = await floor.back()

    assert len(floor.uploader.uploads) == uploads
    assert floor.planned.unchanged == 2
    assert phones[PHONE].deployment_uuid is None


@pytest.mark.parametrize("how", ["ended", "logged in elsewhere", "logged out", "deactivated"])
async def test_login_of_then_that_ended_since_does_not_come_back(floor: Monday, how: str) -> None:
    match how:
        case "ended":
            floor.clock.advance(9 * 3600)
        case "logged in elsewhere":
            await floor.log_in_at(a_mac(3))
        case "logged out":
            phone = await floor.phones.get(floor.root, PHONE)
            made = newest_request(
                floor.database, floor.deploy.texts, Action.LOGOUT, floor.lobby.uuid, phone
            )
            await floor.deploy(floor.root, with_change(existing(await made), DeskChange(DeskUse())))
        case _:
            await floor.users.update(floor.root, floor.ada.user_uuid, UserPatch(is_active=False))

    phones = await floor.back()

    assert (await floor.desk_of(PHONE)).user_uuid != floor.ada.user_uuid
    if how == "deactivated":
        assert "is not active" in floor.refusals()[PHONE]
        assert phones[PHONE].state is PhoneState.LEFT_OUT
        assert floor.has(PHONE, NEW)
    else:
        assert floor.has(PHONE, ADAS)
        assert phones[PHONE].message == LOGIN_ENDED
        assert LOGIN_ENDED in floor.noted(PHONE)


async def test_user_of_today_is_named_before_being_logged_out(floor: Monday) -> None:
    await floor.log_in_at(OTHER)

    await floor.back()

    assert "Its user of now would be logged out." in floor.noted(OTHER)
    assert (await floor.desk_of(OTHER)).user_uuid != floor.ada.user_uuid
    assert floor.has(OTHER, LOBBY)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("moved", "It is at another location now."),
        ("inactive", "This phone is not active."),
        ("again", "It was deleted and created again since."),
        ("gone", "The phone is no longer in the inventory."),
        ("profile", "Its profile was deleted."),
        (
            "unknown",
            "The outcome of a deployment is unknown: the old or the new file was in place.",
        ),
        ("model", "The profile does not fit this phone: it is for SIP phones, not for SCCP."),
    ],
)
async def test_phone_that_cannot_be_restored_is_named_and_left_alone(
    floor: Monday, what: str, why: str
) -> None:
    match what:
        case "moved":
            await floor.phones.update(floor.root, OTHER, PhonePatch(location="basement"))
        case "inactive":
            await floor.phones.update(floor.root, OTHER, PhonePatch(is_active=False))
        case "again" | "gone":
            await floor.phones.delete(floor.root, OTHER)
            floor.clock.advance(1)
            if what == "again":
                new = CreatePhone(mac=OTHER, phone_ip="10.20.30.2", location=FLOOR)
                await floor.phones.create(floor.root, new)
                floor.clock.advance(1)
        case "profile":
            await floor.profiles.delete(floor.root, floor.lobby.uuid)
        case "unknown":
            async with floor.database.write() as tx:
                made = next(one for one in await tx.deployments.rows(9) if one.mac == OTHER)
                unknown = msgspec.structs.replace(made, outcome=Outcome.UNKNOWN)
                await tx.deployments.put(unknown)
        case _:
            patch = ProfilePatch(software_type="SIP")
            await floor.profiles.update(floor.root, floor.lobby.uuid, patch)
    before = floor.texts()

    phones = await floor.back()

    assert floor.refusals()[OTHER] == why
    assert phones[OTHER].state is PhoneState.LEFT_OUT
    assert (phones[OTHER].message or "").startswith(why)
    assert floor.texts()["SEP001BD4000002.cnf.xml"] == before["SEP001BD4000002.cnf.xml"]


async def test_phone_that_was_not_there_then_is_left_alone(floor: Monday) -> None:
    await floor.phones.create(floor.root, CreatePhone(mac=a_mac(9), location=FLOOR))
    floor.clock.advance(1)

    assert a_mac(9) not in await floor.back()
    phones = await floor.back(macs=(a_mac(9),), location=None)

    assert phones[a_mac(9)].state is PhoneState.LEFT_OUT
    assert floor.refusals()[a_mac(9)] == "It was not in the inventory at that moment."


async def test_stopped_way_back_is_undone(floor: Monday) -> None:
    floor.monday = timestamp(floor.clock())
    floor.clock.advance(1)
    for mac in (PHONE, OTHER):
        await floor.switched(floor.root, floor.lobby, mac)
    floor.clock.advance(1)
    settings = {"undo_on_stop": True, "first": 1}

    await floor.back(**settings)

    undone = existing(floor.batch.undone_by)
    undo = await floor.batches.get(floor.root, undone)
    assert (floor.batch.state, undo.as_of) == (BatchState.STOPPED, None)
    assert floor.has(PHONE, LOBBY)


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ("2999-01-01T00:00:00Z", "must not be in the future"),
        ("1999-01-01T00:00:00Z", "must not be before .*, the oldest moment that is kept"),
        ("2026-01-31T09:00:00", "must be a timestamp in UTC or with an offset"),
    ],
)
async def test_moment_that_is_not_kept_is_refused(floor: Monday, at: str, why: str) -> None:
    with pytest.raises(Invalid, match=f"as_of {why}"):
        await floor.plan(as_of=at)
    with pytest.raises(Invalid, match=f"as_of {why}"):
        await floor.begin_without(action="switch", as_of=at)


async def test_moments_with_an_offset_are_the_same_in_both_hours_of_a_clock_change(
    floor: Monday,
) -> None:
    """At the end of summer time 02:30 comes twice; the offset says which one."""
    first, second = ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00")
    moments = [CreateBatch(action="switch", as_of=at).as_of for at in (first, second)]
    assert moments == ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"]


@pytest.mark.parametrize(
    "field",
    [
        {"profile_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"},
        {"template": "office"},
        {"newest": True},
        {"action": "restart"},
    ],
)
def test_other_texts_are_not_allowed_beside_a_moment(field: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=r"is not allowed with `(as_of|action=restart)`"):
        CreateBatch(**{"action": "switch", "as_of": "2026-01-31T09:00:00Z", **field})


async def test_planner_who_lost_the_right_restores_nothing(floor: Monday) -> None:
    boss = await floor.add_user("boss", level=0)
    new = CreateBatch(action="switch", as_of=floor.monday)
    begun = await floor.batches.start(boss, new)
    await floor.users.update(floor.root, boss.user_uuid, UserPatch(is_active=False))

    await floor.run_batches()

    batch = await floor.batches.get(floor.root, begun.uuid)
    assert (batch.state, batch.code) == (BatchState.STOPPED, "planner_lost_right")
    assert floor.has(PHONE, NEW)


async def test_replaced_phone_names_the_one_in_its_place(floor: Monday) -> None:
    async with floor.database.write() as tx:
        await tx.replacements.put(Replacement(a_mac(3), OTHER, timestamp(floor.clock())))
    await floor.phones.update(floor.root, OTHER, PhonePatch(is_active=False))

    await floor.back()

    assert floor.refusals()[OTHER] == f"It was replaced by {a_mac(3)}."


async def test_batch_as_of_a_moment_is_in_the_audit_trail(floor: Monday) -> None:
    await floor.back()
    async with floor.database.read() as tx:
        (entry,) = await tx.audit.newest(WantedEntries(action="batch.created"), 1)
    assert entry.entry.changes["as_of"]["new"] == floor.monday
