"""A phone is confirmed when it runs the load that its configuration names."""

import asyncio
from dataclasses import replace

import msgspec
import pytest

from phoneprov_core.inventory.profiles.model import ProfilePatch
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.deployments.confirm import Confirm
from phoneprov_core.switching.deployments.deploy import SwitchProfile
from phoneprov_core.switching.deployments.model import Confirmation, Deployment
from phoneprov_core.switching.deployments.observation import Arrival, DeviceInformation
from support.office import Settings
from support.switching import MAC, Desk

IP = "10.20.30.40"
OLD, NEW = "SCCP45.9-4-2SR3-1S", "SCCP45.9-4-2SR4-2S"
JAR = "jar45sccp.9-9-9.sbn"
BACK = "The phone was seen."
OFF = Refused("off")


def xml(load: str) -> str:
    return f"<device><loadInformation>{load}</loadInformation></device>"


def stating(load: str | None, mac: str = MAC) -> DeviceInformation:
    return DeviceInformation(mac, "CP-7945G", load)


class Room(Desk):
    """A desk whose phone is asked for its firmware. Pauses advance the clock; ``then`` are what it
    states after each of them."""

    then: list[DeviceInformation | PhoneprovError]
    files: tuple[str, ...] = ()

    def confirming(self, minutes: int = 10) -> None:
        self.then = []
        self.pauses = 0
        arrival = Arrival(self.phone, self._pause, minutes, self._files)
        confirm = replace(self.deploy.confirm, arrival=arrival)
        self.deploy = replace(self.deploy, confirm=confirm)
        self.switch = SwitchProfile(self.database, self.deploy)

    async def _files(self, load: str) -> tuple[str, ...]:
        return self.files if load == NEW else ()

    async def _pause(self, seconds: float) -> None:
        self.pauses += 1
        await asyncio.sleep(0)
        self.clock.advance(seconds)
        if self.then:
            self.phone.tells[IP] = self.then.pop(0)

    @property
    def confirm(self) -> Confirm:
        return self.deploy.confirm

    async def given(self, load: str) -> None:
        """Switch the phone to a configuration with this load, after which it restarts."""
        patch = ProfilePatch(cnf_xml=xml(load))
        await self.profiles.update(self.ada, self.profile.uuid, patch)
        await self.switched()
        self.watch.comes_back(MAC, BACK)
        await self.background.done()

    async def said(self) -> tuple[str, str]:
        record = await self.last()
        return record.confirmation.value, record.confirmation_message or ""


@pytest.fixture
async def room() -> Room:
    room = await Room.of(Settings(with_watch=True))
    room.confirming()
    room.phone.tells[IP] = stating(OLD)
    await room.given(OLD)
    return room


async def test_phone_that_runs_its_load_is_confirmed_at_once(room: Room) -> None:
    assert await room.said() == ("confirmed", f"{BACK} It runs {OLD}.")
    assert room.pauses == 0
    assert (await room.last()).load == OLD


async def test_load_that_arrives_after_a_second_restart_is_confirmed(room: Room) -> None:
    room.then = [stating(OLD), OFF, OFF, stating(NEW)]
    await room.given(NEW)

    assert await room.said() == ("confirmed", f"{BACK} It runs {NEW}.")
    assert room.pauses == 4


async def test_load_that_does_not_arrive_is_not_confirmed_and_the_sentence_says_so(
    room: Room,
) -> None:
    await room.given(NEW)

    why = f"{BACK} The load {NEW} did not arrive within 10 minutes: the phone runs {OLD}."
    assert await room.said() == ("not_confirmed", why)
    assert room.pauses < 50


async def test_same_load_that_did_not_arrive_before_is_not_confirmed_either(room: Room) -> None:
    await room.given(NEW)
    await room.given(NEW)

    assert (await room.said())[0] == "not_confirmed"


async def test_first_known_configuration_with_another_load_is_not_confirmed() -> None:
    room = await Room.of(Settings(with_watch=True))
    room.confirming()
    room.phone.tells[IP] = stating(OLD)
    await room.given(NEW)

    assert (await room.said())[0] == "not_confirmed"


async def test_new_load_that_cannot_be_compared_is_not_confirmed(room: Room) -> None:
    room.phone.tells[IP] = stating(JAR)
    await room.given(NEW)

    why = f"It is not known whether the load {NEW} arrived within 10 minutes: the phone runs {JAR}."
    assert await room.said() == ("not_confirmed", f"{BACK} {why}")


async def test_load_of_before_that_cannot_be_compared_is_confirmed_without_it(room: Room) -> None:
    room.phone.tells[IP] = stating("a.sbn")
    await room.given(OLD)

    why = f"Whether it runs {OLD} is not known: the phone runs a.sbn."
    assert await room.said() == ("confirmed", f"{BACK} {why}")


@pytest.mark.parametrize(
    ("states", "observed", "seconds"),
    [
        (OFF, "its web server does not answer", 120),
        (DeviceInformation(), "its web server does not answer", 120),
        (stating(NEW, "00:1B:D4:99:99:99"), "its web server does not answer", 120),
        (stating(None), "the phone states no firmware", 0),
    ],
)
async def test_phone_that_states_no_firmware_is_confirmed_without_it(
    room: Room, states: DeviceInformation | PhoneprovError, observed: str, seconds: int
) -> None:
    room.phone.tells[IP] = states
    begin = room.clock()
    await room.given(NEW)

    why = f"Whether it runs {NEW} is not known: {observed}."
    assert await room.said() == ("confirmed", f"{BACK} {why}")
    assert seconds <= (room.clock() - begin).total_seconds() <= seconds + 20


async def test_silent_phone_whose_load_had_arrived_is_confirmed_soon(room: Room) -> None:
    room.phone.tells[IP] = OFF
    begin = room.clock()
    await room.given(OLD)

    why = f"Whether it runs {OLD} is not known: its web server does not answer."
    assert await room.said() == ("confirmed", f"{BACK} {why}")
    assert (room.clock() - begin).total_seconds() <= 15


async def test_files_of_the_list_show_the_load(room: Room) -> None:
    room.phone.tells[IP] = stating(JAR)
    room.files = (JAR.upper(),)
    await room.given(NEW)

    assert (await room.said())[0] == "confirmed"


async def test_file_that_the_list_does_not_name_is_another_load(room: Room) -> None:
    room.phone.tells[IP] = stating(JAR)
    room.files = ("jar45sccp.1-1-1.sbn",)
    await room.given(NEW)

    assert f"the phone runs {JAR}" in (await room.said())[1]
    assert "did not arrive" in (await room.said())[1]


async def test_configuration_without_a_load_is_confirmed_by_the_restart(room: Room) -> None:
    await room.given("")

    assert await room.said() == ("confirmed", BACK)
    assert (await room.last()).load is None


async def test_loads_are_not_compared_where_they_have_no_time() -> None:
    room = await Room.of(Settings(with_watch=True))
    room.confirming(minutes=0)
    await room.given(NEW)

    assert await room.said() == ("confirmed", BACK)


async def pending(room: Room) -> Deployment:
    """A deployment whose phone was seen, and whose load is awaited by a process that ended."""
    await room.given(OLD)
    record = await room.last()
    async with room.database.write() as tx:
        record = room.confirm.seen_again(
            msgspec.structs.replace(record, load=NEW), BACK, room.clock()
        )
        await tx.deployments.put(record)
    return record


async def test_awaited_load_is_awaited_again_after_a_restart_of_the_service(room: Room) -> None:
    record = await pending(room)
    assert record.awaits_load
    room.phone.tells[IP] = stating(NEW)

    await room.confirm.resume()
    await room.background.done()

    assert await room.said() == ("confirmed", f"{BACK} It runs {NEW}.")
    assert room.confirm.watched == set()


async def test_awaited_load_is_not_known_once_its_time_is_over(room: Room) -> None:
    record = await pending(room)
    room.clock.advance(10 * 60 + 11)

    late = await room.deployments.get(room.ada, record.uuid)
    assert late.confirmation is Confirmation.NOT_CONFIRMED
    assert late.confirmation_message == (
        f"{BACK} It is not known whether the load {NEW} arrived: the watch was interrupted."
    )


async def test_later_deployment_ends_the_wait_for_a_load(room: Room) -> None:
    async def another(_: float) -> None:
        if not room.pauses:
            room.pauses = 1
            patch = ProfilePatch(cnf_xml=xml(OLD))
            await room.profiles.update(room.ada, room.profile.uuid, patch)
            await room.switched()

    assert room.confirm.arrival is not None
    arrival = replace(room.confirm.arrival, pause=another)
    confirm = replace(room.confirm, arrival=arrival)
    room.deploy = replace(room.deploy, confirm=confirm)
    room.switch = SwitchProfile(room.database, room.deploy)
    await room.given(NEW)

    first = (await room.deployments.of_phone(room.ada, MAC)).first[1]
    assert first.confirmation is Confirmation.NOT_CONFIRMED
    assert first.confirmation_message == f"Another deployment followed before it ran {NEW}."
    room.watch.goes_missing(MAC)
    await room.background.done()


async def test_phone_that_was_seen_to_restart_has_a_sign_of_life(room: Room) -> None:
    async with room.database.read() as tx:
        seen = await tx.fleet.find(MAC)
    assert seen is not None
    assert seen.seen_at is not None
