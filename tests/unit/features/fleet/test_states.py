"""The state of a phone follows from what was recorded and what was seen."""

import msgspec
import pytest

from phoneprov_core.features.fleet.states import (
    ExpectedLoad,
    FleetState,
    PhoneCheck,
    SeenPhone,
    after_file,
    after_look,
    after_sign,
)
from phoneprov_core.features.fleet.status import status_of
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.deployments.observation import (
    DeviceInformation,
    FileState,
    read_device_information,
)
from support.phone_records import a_phone
from support.records import a_mac

PHONE = a_phone(1, model="CP-7945G", software_version="SCCP45.9", phone_ip="10.0.0.5")
OWN = DeviceInformation(PHONE.mac, "CP-7945G", "SCCP45.9", "FCH1")
SILENT = PhoneCheck(answers=False)


def answering(**more: object) -> PhoneCheck:
    found = msgspec.structs.replace(OWN, **more)
    return PhoneCheck(answers=True, information=found)


def seen_after(*looks: PhoneCheck, phone: Phone = PHONE) -> SeenPhone:
    seen = None
    for number, look in enumerate(looks):
        seen = after_look(phone, seen, look, f"2026-01-31T08:0{number}:00.000Z")
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("looks", "state"),
    [
        ([SILENT], "never_seen"),
        ([SILENT, SILENT, SILENT], "never_seen"),
        ([PhoneCheck()], "never_seen"),
        ([PhoneCheck(is_registered=False)], "never_seen"),
        ([PhoneCheck(is_registered=True)], "fine"),
        ([answering()], "fine"),
        ([answering(), SILENT], "fine"),
        ([answering(), SILENT, SILENT], "unreachable"),
        ([answering(), SILENT, answering(), SILENT], "fine"),
        ([answering(), SILENT, SILENT, SILENT, answering()], "fine"),
        ([answering(), SILENT, PhoneCheck(answers=False, is_registered=True)], "fine"),
        ([answering(mac=a_mac(2))], "foreign"),
        ([answering(mac=a_mac(2), model="CP-8841")], "foreign"),
        ([answering(mac=None)], "fine"),
        ([PhoneCheck(True, DeviceInformation())], "never_seen"),
        ([answering(), PhoneCheck(True, DeviceInformation())], "fine"),
        ([answering(), *[PhoneCheck(True, DeviceInformation())] * 2], "unreachable"),
        ([PhoneCheck(True, DeviceInformation(), is_registered=True)], "fine"),
        ([answering(model="7945")], "fine"),
        ([answering(model="Cisco Unified IP Phone 7945G")], "fine"),
        ([answering(load="jar45sccp.9-4-2TH1-1.sbn")], "fine"),
        ([answering(model="CP-7965G")], "wrong_model"),
        ([answering(model=None)], "fine"),
        ([answering(load="SCCP45.8")], "wrong_model"),
        ([PhoneCheck(True, OWN, is_registered=False)], "unregistered"),
        ([PhoneCheck(True, OWN, is_registered=True)], "fine"),
    ],
)
def test_state_follows_from_looks(looks: list[PhoneCheck], state: str) -> None:
    seen = seen_after(*looks)

    assert seen.state is FleetState(state)
    status = status_of(PHONE, seen)
    assert status.message.endswith(".")
    assert (status.next_step is None) == (state == "fine")


@pytest.mark.parametrize(
    ("look", "file", "state"),
    [
        (answering(), "changed", "file_changed"),
        (answering(), "missing", "file_changed"),
        (answering(), "as_deployed", "fine"),
        (answering(), "unknown", "fine"),
        (PhoneCheck(True, OWN, is_registered=False), "changed", "unregistered"),
        (answering(mac=a_mac(2)), "missing", "foreign"),
        (None, "changed", "never_seen"),
    ],
)
def test_state_follows_from_the_file_and_a_look_keeps_it(
    look: PhoneCheck | None, file: FileState, state: str
) -> None:
    before = None if look is None else seen_after(look)
    seen = after_file(PHONE, before, file, "2026-01-31T09:00:00.000Z")

    assert (seen.state, seen.file) == (FleetState(state), file)
    is_same = before is not None and before.state is seen.state
    assert (seen.since == "2026-01-31T09:00:00.000Z") is not is_same
    again = after_look(PHONE, seen, look or SILENT, "2026-01-31T09:30:00.000Z")
    assert (again.state, again.file, again.since) == (seen.state, file, seen.since)
    words = status_of(PHONE, seen)
    assert words.message.endswith(".")
    if state == "file_changed":
        assert "on the server" in words.message
        assert "Preview" in (words.next_step or "")


NEW, EARLY, LATE = "SCCP45.9-9", "2026-01-31T07:00:00.000Z", "2026-01-31T09:00:00.000Z"


def expecting(look: PhoneCheck, load: str = NEW, by: str = EARLY, *files: str) -> PhoneCheck:
    return msgspec.structs.replace(look, expected=ExpectedLoad(load, by, files))


@pytest.mark.parametrize(
    ("looks", "states"),
    [
        ([expecting(answering())], ["wrong_load"]),
        ([expecting(answering(), by=LATE)], ["fine"]),
        ([expecting(answering(load=NEW))], ["fine"]),
        ([expecting(answering(load=None))], ["fine"]),
        ([expecting(answering(load="a.sbn"))], ["fine"]),
        ([expecting(answering(load="a.sbn"), NEW, EARLY, "b.sbn")], ["wrong_load"]),
        ([expecting(answering(load="a.sbn"), NEW, EARLY, "A.sbn")], ["fine"]),
        ([expecting(answering(mac=a_mac(2)))], ["foreign"]),
        ([answering(), expecting(SILENT)], ["fine"]),
        ([expecting(answering()), expecting(SILENT)], ["wrong_load"]),
        ([expecting(answering()), *[expecting(SILENT)] * 2], ["unreachable", "wrong_load"]),
        ([expecting(answering()), expecting(SILENT, "SCCP45.10")], ["fine"]),
        ([expecting(answering()), answering()], ["fine"]),
        ([expecting(answering(model="CP-7911G"))], ["wrong_model", "wrong_load"]),
    ],
)
def test_load_that_did_not_arrive_is_a_state(looks: list[PhoneCheck], states: list[str]) -> None:
    seen = seen_after(*looks)

    assert [state.value for state in seen.states] == states
    words = status_of(PHONE, seen)
    if states == ["wrong_load"] and seen.reported_load == OWN.load:
        assert words.message == (
            f"The phone runs {OWN.load}, its configuration names {NEW}: the load did not arrive."
        )
    assert words.message.endswith(".")


def test_load_of_the_configuration_is_not_compared_with_the_record() -> None:
    assert seen_after(expecting(answering(load=NEW))).states == (FleetState.FINE,)
    assert seen_after(answering(load=NEW)).states == (FleetState.WRONG_MODEL,)


def test_load_that_cannot_be_compared_is_said_to_be_unknown() -> None:
    words = status_of(PHONE, seen_after(expecting(answering(load=None))))

    assert f"not known whether it runs {NEW}" in words.message


def test_states_of_a_phone_are_a_set_and_the_worst_is_first() -> None:
    seen = after_file(PHONE, seen_after(answering(), SILENT, SILENT), "changed", LATE)

    assert seen.state is FleetState.UNREACHABLE
    assert seen.states == (FleetState.UNREACHABLE, FleetState.FILE_CHANGED)
    words = status_of(PHONE, seen)
    assert words.states == seen.states
    assert words.message == (
        "The phone does not answer at 10.0.0.5. "
        "Another program changed the configuration of the phone on the server."
    )
    never = after_file(PHONE, None, "missing", LATE)
    assert never.states == (FleetState.NEVER_SEEN, FleetState.FILE_CHANGED)


def test_sign_of_life_is_the_newest_moment_and_ends_never_seen() -> None:
    never = seen_after(SILENT)
    seen = after_sign(PHONE, never, "2026-01-31T08:30:00.000Z")

    assert (never.state, seen.state) == (FleetState.NEVER_SEEN, FleetState.UNREACHABLE)
    assert seen.seen_at == "2026-01-31T08:30:00.000Z"
    assert after_sign(PHONE, seen, EARLY).seen_at == seen.seen_at
    assert after_sign(PHONE, None, EARLY).states == (FleetState.FINE,)


def test_web_server_that_is_no_phone_is_said() -> None:
    words = status_of(PHONE, seen_after(PhoneCheck(True, DeviceInformation())))
    assert "was never seen" in words.message
    assert "does not state to be a phone" in words.message


def test_what_is_not_recorded_is_not_wrong() -> None:
    phone = msgspec.structs.replace(PHONE, model=None, software_version=None)
    assert seen_after(answering(model="CP-8841", load="x"), phone=phone).state is FleetState.FINE


def test_since_is_the_begin_of_the_state() -> None:
    seen = seen_after(answering(), answering(), SILENT, SILENT, SILENT)

    assert seen.since == "2026-01-31T08:03:00.000Z"
    assert seen.seen_at == "2026-01-31T08:01:00.000Z"
    assert seen.reported_load == "SCCP45.9"


def test_another_look_that_found_the_same_is_no_difference() -> None:
    once, twice = seen_after(answering()), seen_after(answering(), answering())

    assert once.differs(None)
    assert not twice.differs(once)
    assert seen_after(answering(), answering(serial="other")).differs(once)
    five, six = (seen_after(*[SILENT] * count) for count in (5, 6))
    assert not six.differs(five)


def test_words_name_what_was_seen_and_what_is_recorded() -> None:
    assert a_mac(2) in status_of(PHONE, seen_after(answering(mac=a_mac(2)))).message
    other = status_of(PHONE, seen_after(answering(model="CP-7965G"))).message
    assert other == "The phone is a CP-7965G, recorded is CP-7945G."
    no_address = msgspec.structs.replace(PHONE, phone_ip=None)
    assert status_of(no_address, None).message == "The phone has no recorded address."


def test_serial_number_is_read_as_one_short_line() -> None:
    page = b"<d><MACAddress>001BD4123456</MACAddress><serialNumber>A\n\tB%s</serialNumber></d>"
    assert read_device_information(200, page % b"").serial == "A B"
    assert len(read_device_information(200, page % (b"x" * 9999)).serial or "") == 64
