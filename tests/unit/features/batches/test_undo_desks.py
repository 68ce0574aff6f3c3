"""An undo and a rollback give back who used a phone, and until when, unless that ended since."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from phoneprov_core.features.batches.model import Batch, PhoneState
from phoneprov_core.features.batches.results import DEFAULT
from phoneprov_core.features.desks.occupancy import LOGIN_ENDED, DeskChange, with_change
from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.inventory.profiles.model import Profile, ProfilePatch
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.switching.deployments.model import Action
from phoneprov_core.switching.deployments.order import newest_request
from phoneprov_core.switching.deployments.rollback import RollbackRequest
from phoneprov_core.switching.errors import RightsChanged
from support.floor import Floor
from support.records import a_mac
from support.store_tests import existing
from unit.features.batches.test_undo import (
    killed,
    stop_before_the_undo,
    there,
    undone,
    without_a_worker,
)

PHONE, OTHER = a_mac(1), a_mac(2)
ADAS, LOBBY, NEW = "<adas/>", "<lobby/>", "<new/>"
HOURS = 8


class UsedFloor(Floor):
    """Ada is logged in at a phone for 8 hours."""

    adas: Profile
    lobby: Profile
    new: Profile
    before: DeskRecord

    async def furnish(self) -> None:
        await super().furnish()
        without_a_worker(self)
        self.adas = await self.profile_of(self.ada, ADAS)
        self.lobby = await self.profile_of(self.root, LOBBY)
        self.new = await self.profile_of(self.root, NEW)
        await self.log_in_at(PHONE)
        self.before = await self.desk()

    async def log_in_at(self, mac: str) -> None:
        phone = await self.phones.get(self.root, mac)
        made = newest_request(self.database, self.deploy.texts, Action.LOGIN, self.adas.uuid, phone)
        order = existing(await made)
        until = timestamp(self.clock() + timedelta(hours=HOURS))
        desk = DeskChange(DeskUse(self.ada.user_uuid, self.adas.uuid, until))
        await self.deploy(self.ada, with_change(order, desk))
        self.clock.advance(60)

    async def desk(self) -> DeskRecord:
        async with self.database.read() as tx:
            return await tx.desks.find(PHONE)

    async def change_desk(self, **fields: Any) -> None:
        async with self.database.write() as tx:
            await tx.desks.put(msgspec.structs.replace(await tx.desks.find(PHONE), **fields))

    async def leave(self) -> None:
        async with self.database.write() as tx:
            desk = await tx.desks.find(PHONE)
            await tx.desks.put(desk.left(not_before=0).settled())

    async def meanwhile(self, what: str) -> None:
        """What happens between the batch and its undo."""
        user = self.ada.user_uuid
        match what:
            case "expired":
                self.clock.advance(HOURS * 3600)
            case "deactivated":
                await self.users.update(self.root, user, UserPatch(is_active=False))
            case "deleted":
                await self.users.delete(self.root, user)
            case "elsewhere":
                await self.log_in_at(OTHER)
            case "several":
                object.__setattr__(self.occupancy, "several_logins", True)
                await self.log_in_at(OTHER)
            case "switched elsewhere":
                await self.switched(self.root, self.adas, OTHER)
            case "given away":
                patch = ProfilePatch(user_uuid=self.root.user_uuid)
                await self.profiles.update(self.root, self.adas.uuid, patch)
            case "left":
                await self.leave()
        self.uploader.uploads.clear()

    async def rolled_out(self, profile: Profile | None = None) -> Batch:
        batch = await self.begin(profile or self.new, macs=[PHONE], first=1, undo_on_stop=True)
        await stop_before_the_undo(self, batch)
        return batch


@pytest.fixture
async def floor() -> UsedFloor:
    return await UsedFloor.of(phones=2)


def use_of(desk: DeskRecord) -> tuple[Any, ...]:
    return desk.user_uuid, desk.profile_uuid, desk.since, desk.until, desk.left_user_uuid, desk.due


NO_USE = (None,) * 6


@pytest.mark.parametrize("what", ["nothing", "several", "switched elsewhere"])
@pytest.mark.parametrize("way", ["undo", "rollback"])
async def test_use_that_has_not_ended_is_given_back(floor: UsedFloor, way: str, what: str) -> None:
    batch = await floor.rolled_out()
    assert use_of(await floor.desk())[:4] != use_of(floor.before)[:4]
    await floor.meanwhile(what)

    if way == "undo":
        (phone,) = (await undone(floor, batch))[1]
        assert (phone.state, phone.message) == (PhoneState.DONE, None)
    else:
        assert (await floor.rollback(floor.root, PHONE)).message is None

    assert there(floor) == {"1": ADAS}
    assert use_of(await floor.desk()) == use_of(floor.before)


@pytest.mark.parametrize(
    "what", ["expired", "deactivated", "deleted", "elsewhere", "given away", "left"]
)
@pytest.mark.parametrize("has_default", [True, False])
async def test_undo_of_a_use_that_ended_brings_the_default_profile(
    floor: UsedFloor, what: str, has_default: bool
) -> None:
    if has_default:
        await floor.change_desk(default_profile_uuid=floor.lobby.uuid)
    again = None
    if what == "left":  # a batch with her own profile does not end her login
        again = await floor.profile_of(floor.ada, NEW)
    batch = await floor.rolled_out(again)
    await floor.meanwhile(what)

    (phone,) = (await undone(floor, batch))[1]

    if has_default:
        assert (phone.state, phone.message) == (PhoneState.DONE, DEFAULT)
        assert there(floor) == {"1": LOBBY}
        assert use_of(await floor.desk()) == NO_USE
    elif what == "deleted":
        assert (phone.state, there(floor)) == (PhoneState.FAILED, {})
    elif what == "deactivated":
        assert (phone.state, phone.message) == (
            PhoneState.LEFT_OUT,
            "The user of this configuration, ada, is not active. The phone was left unchanged.",
        )
    else:
        assert (phone.state, phone.message) == (PhoneState.DONE, LOGIN_ENDED)
        assert there(floor) == {"1": ADAS}
        assert use_of(await floor.desk()) == (*NO_USE[:4], floor.ada.user_uuid, None)


@pytest.mark.parametrize("what", ["expired", "deactivated", "elsewhere"])
async def test_rollback_to_a_use_that_ended_brings_the_text_and_no_user(
    floor: UsedFloor, what: str
) -> None:
    await floor.rolled_out()
    await floor.meanwhile(what)

    if what == "deactivated":
        with pytest.raises(RightsChanged, match=r"ada, is not active\. With force"):
            await floor.rollback(floor.root, PHONE)
    made = await floor.rollback(floor.root, PHONE, RollbackRequest(force=what == "deactivated"))

    assert made.message == LOGIN_ENDED
    assert there(floor) == {"1": ADAS}
    assert use_of(await floor.desk()) == (*NO_USE[:4], floor.ada.user_uuid, None)


@pytest.mark.parametrize("has_left", [True, False])
async def test_undo_gives_back_a_phone_without_a_user(floor: UsedFloor, has_left: bool) -> None:
    """Neither who has left it nor the owner of an earlier default profile is logged in."""
    if has_left:
        await floor.leave()
    else:
        await floor.change_desk(default_profile_uuid=floor.lobby.uuid)
        await floor.switched(floor.root, floor.lobby, PHONE)
    before = use_of(await floor.desk())
    batch = await floor.rolled_out()
    await floor.change_desk(default_profile_uuid=None)
    await floor.meanwhile("nothing")

    await undone(floor, batch)

    assert there(floor) == {"1": ADAS if has_left else LOBBY}
    assert use_of(await floor.desk()) == before


@pytest.mark.parametrize("placed", [True, False])
async def test_use_before_an_attempt_that_was_killed_is_given_back(
    floor: UsedFloor, placed: bool
) -> None:
    batch = await floor.begin(floor.new, macs=[PHONE], first=1, undo_on_stop=True)
    await killed(floor, 1, placed=placed)
    await stop_before_the_undo(floor, batch)
    await killed(floor, 1, placed=placed)
    floor.uploader.uploads.clear()

    await undone(floor, batch)

    assert there(floor) == {"1": ADAS}
    assert use_of(await floor.desk()) == use_of(floor.before)
