"""The state of a phone follows from what was recorded and what was seen."""

import msgspec
import pytest

from phoneprov_core.deployments.observation import (
    DeviceInformation,
    FileState,
    read_device_information,
)
from phoneprov_core.fleet.states import (
    FleetState,
    Look,
    SeenPhone,
    after_file,
    after_look,
    status_of,
)
from phoneprov_core.phones.model import Phone
from support.phone_records import a_phone
from support.records import a_mac

PHONE = a_phone(1, model="CP-7945G", software_version="SCCP45.9", phone_ip="10.0.0.5")
OWN = DeviceInformation(PHONE.mac, "CP-7945G", "SCCP45.9", "FCH1")
SILENT = Look(answers=False)


def answering(**more: object) -> Look:
    found = msgspec.structs.replace(OWN, **more)
    return Look(answers=True, information=found)


def seen_after(*looks: Look, phone: Phone = PHONE) -> SeenPhone:
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
        ([Look()], "never_seen"),
        ([Look(is_registered=False)], "never_seen"),
        ([Look(is_registered=True)], "fine"),
        ([answering()], "fine"),
        ([answering(), SILENT], "fine"),
        ([answering(), SILENT, SILENT], "unreachable"),
        ([answering(), SILENT, answering(), SILENT], "fine"),
        ([answering(), SILENT, SILENT, SILENT, answering()], "fine"),
        ([answering(), SILENT, Look(answers=False, is_registered=True)], "fine"),
        ([answering(mac=a_mac(2))], "foreign"),
        ([answering(mac=a_mac(2), model="CP-8841")], "foreign"),
        ([answering(mac=None)], "fine"),
        ([answering(model="7945")], "fine"),
        ([answering(model="CP-7965G")], "wrong_model"),
        ([answering(model=None)], "fine"),
        ([answering(load="SCCP45.8")], "wrong_model"),
        ([Look(True, OWN, is_registered=False)], "unregistered"),
        ([Look(True, OWN, is_registered=True)], "fine"),
    ],
)
def test_state_follows_from_looks(looks: list[Look], state: str) -> None:
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
        (Look(True, OWN, is_registered=False), "changed", "unregistered"),
        (answering(mac=a_mac(2)), "missing", "foreign"),
        (None, "changed", "never_seen"),
    ],
)
def test_state_follows_from_the_file_and_a_look_keeps_it(
    look: Look | None, file: FileState, state: str
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
