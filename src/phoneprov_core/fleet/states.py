"""Which state a phone is in, from what was recorded and what was seen of it."""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.deployments.observation import DeviceInformation, FileState
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.system import Timestamp
from phoneprov_core.phones.model import Phone, bare_model

MISSES = 2
"""Looks in a row without an answer after which a phone counts as off: a phone that restarts misses
one."""


class FleetState(Enum):
    """The state of a phone. Of several that fit, it is the first in this order."""

    NEVER_SEEN = "never_seen"
    FOREIGN = "foreign"
    UNREACHABLE = "unreachable"
    WRONG_MODEL = "wrong_model"
    UNREGISTERED = "unregistered"
    FILE_CHANGED = "file_changed"
    FINE = "fine"


class Look(Struct, frozen=True):
    """What one look found. ``information`` is the answer, None without one; ``answers`` is None if
    the phone was not asked. ``is_registered`` is what the exchange says, None if nothing; without
    ``exchange`` it did not answer, and what it said last stays. A look does not compare the file:
    see ``files``."""

    answers: bool | None = None
    information: DeviceInformation | None = None
    is_registered: bool | None = None
    exchange: bool = True


class WatchedFile(Struct, frozen=True):
    """The file of an active phone with an address: the phone's ``login_ip``, its known state, and
    the deployment whose file is certainly in place (see ``DeploymentStore.in_place``) with the name
    of that file, None without one. ``answers`` is whether the phone answered the last look."""

    mac: str
    login_ip: str | None
    file: FileState
    answers: bool | None
    deployment_uuid: str | None
    filename: str | None


class SeenPhone(Struct, frozen=True):
    """What is known of a phone from looking at it. ``since`` is the begin of the state; ``misses``
    the number of looks in a row without an answer, at most ``MISSES``."""

    mac: str
    state: FleetState
    since: str
    seen_at: str | None = None
    answers: bool | None = None
    misses: int = 0
    reported_mac: str | None = None
    reported_model: str | None = None
    reported_load: str | None = None
    serial: str | None = None
    is_registered: bool | None = None
    file: FileState = "unknown"

    def differs(self, before: "SeenPhone | None") -> bool:
        """Whether this is more than another look that found the same."""
        return before is None or replace(self, seen_at=before.seen_at) != before


def after_look(phone: Phone, before: SeenPhone | None, look: Look, now: str) -> SeenPhone:
    """What is known of the phone after a look."""
    known = before or SeenPhone(phone.mac, FleetState.NEVER_SEEN, now)
    found = look.information
    if found is not None:
        known = replace(
            known,
            seen_at=now,
            answers=True,
            misses=0,
            reported_mac=found.mac,
            reported_model=found.model,
            reported_load=found.load,
            serial=found.serial,
        )
    elif look.answers is False:
        misses = min(known.misses + 1, MISSES)
        is_off = misses == MISSES or known.answers is not True
        answers = False if is_off else known.answers
        known = replace(known, misses=misses, answers=answers)
    else:
        known = replace(known, answers=None, misses=0)
    if look.is_registered:
        known = replace(known, seen_at=now)
    if look.exchange:
        known = replace(known, is_registered=look.is_registered)
    return _in_state(phone, before, known, now)


def after_file(phone: Phone, before: SeenPhone | None, file: FileState, now: str) -> SeenPhone:
    """What is known of the phone after its file was compared."""
    known = before or SeenPhone(phone.mac, FleetState.NEVER_SEEN, now)
    return _in_state(phone, before, replace(known, file=file), now)


def _in_state(phone: Phone, before: SeenPhone | None, known: SeenPhone, now: str) -> SeenPhone:
    state = state_of(phone, known)
    since = known.since if before is not None and before.state is state else now
    return replace(known, state=state, since=since)


def state_of(phone: Phone, seen: SeenPhone) -> FleetState:
    """The state of a phone, of which this is known."""
    if seen.seen_at is None:
        return FleetState.NEVER_SEEN
    if seen.answers and seen.reported_mac not in {None, phone.mac}:
        return FleetState.FOREIGN
    if seen.answers is False and not seen.is_registered:
        return FleetState.UNREACHABLE
    if _is_other_model(phone.model, seen.reported_model) or _is_other_load(phone, seen):
        return FleetState.WRONG_MODEL
    if seen.is_registered is False:
        return FleetState.UNREGISTERED
    if seen.file in {"changed", "missing"}:
        return FleetState.FILE_CHANGED
    return FleetState.FINE


def _is_other_model(recorded: str | None, reported: str | None) -> bool:
    return bool(recorded and reported and bare_model(recorded) != bare_model(reported))


def _is_other_load(phone: Phone, seen: SeenPhone) -> bool:
    recorded, reported = phone.software_version, seen.reported_load
    return bool(recorded and reported and recorded.strip() != reported)


class CountedFleet(Struct, frozen=True):
    """Numbers of active phones: by last outcome and model, and of those with a state by state and
    load."""

    recorded: list[tuple[str, str | None, int]]
    observed: list[tuple[str, str | None, int]]


Days = Mapping[str, Mapping[str, int]]
"""Number of deployments by day (``2026-01-31``) and outcome."""


class PhoneStatus(Struct, frozen=True):
    """The state of a phone, in words, with what is known of it."""

    mac: StoredMac
    state: Annotated[FleetState, schema("The state")]
    message: Annotated[str, schema("The state in one sentence")]
    next_step: Annotated[str, schema("What to do; null if nothing")] | None
    since: Annotated[Timestamp, schema("Begin of the state; null if never looked at")] | None
    seen_at: Annotated[Timestamp, schema("When the phone last answered or was registered")] | None
    answers: Annotated[bool, schema("Whether its web server answers; null if not asked")] | None
    reported_model: Annotated[str, schema("Model that it reports", examples=["CP-7945G"])] | None
    reported_load: (
        Annotated[str, schema("Firmware that it reports", examples=["SCCP45.9-4-2SR3-1S"])] | None
    )
    serial: Annotated[str, schema("Serial number that it reports")] | None
    is_registered: Annotated[bool, schema("Whether the exchange has it; null if unknown")] | None
    file: Annotated[FileState, schema("The file on the server, compared with the deployed one")]
    history: Annotated[
        "tuple[StateChange, ...]", schema("The latest 20 changes of the state, newest first")
    ]


class StateChange(Struct, frozen=True):
    """A change of a phone's state."""

    state: Annotated[FleetState, schema("The state")]
    at: Annotated[Timestamp, schema("Begin of the state")]


def status_of(
    phone: Phone, seen: SeenPhone | None, history: tuple[StateChange, ...] = ()
) -> PhoneStatus:
    """The state of a phone in words."""
    known = seen or SeenPhone(phone.mac, FleetState.NEVER_SEEN, "")
    message, next_step = _words(phone, known)
    return record_of(
        PhoneStatus,
        known,
        message=message,
        next_step=next_step,
        since=known.since or None,
        history=history,
    )


def _words(phone: Phone, seen: SeenPhone) -> tuple[str, str | None]:
    at = f" at {phone.phone_ip}" if phone.phone_ip else ""
    match seen.state:
        case FleetState.NEVER_SEEN if phone.phone_ip is None:
            return "The phone has no recorded address.", "Record its phone_ip, or adopt it."
        case FleetState.NEVER_SEEN:
            message = f"The phone was never seen{at}."
            return message, "Connect it, or correct its phone_ip; its web access must be enabled."
        case FleetState.FOREIGN:
            message = f"Another phone answers{at}: {seen.reported_mac}."
            return message, "Correct the phone_ip of both phones, or replace the phone by that one."
        case FleetState.UNREACHABLE:
            message = f"The phone does not answer{at} any more."
            return message, "Check its power and network, and its phone_ip."
        case FleetState.WRONG_MODEL if _is_other_model(phone.model, seen.reported_model):
            message = f"The phone is a {seen.reported_model}, recorded is {phone.model}."
            return message, "Correct the model of the phone, or replace the phone."
        case FleetState.WRONG_MODEL:
            message = f"The phone runs {seen.reported_load}, recorded is {phone.software_version}."
            return message, "Correct software_version, or give the phone its firmware."
        case FleetState.UNREGISTERED:
            message = "The exchange does not have the phone."
            return message, "Check the configuration on the phone and its entry in the exchange."
        case FleetState.FILE_CHANGED:
            message = "The configuration of the phone is missing on the server."
            if seen.file != "missing":
                message = "Another program changed the configuration of the phone on the server."
            return message, "Preview a switch to see the difference, then switch or roll back."
        case FleetState.FINE:
            return "The phone is as it is recorded.", None
