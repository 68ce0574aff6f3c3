"""The states of a phone, computed from its records and from observations."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from ipaddress import ip_network
from typing import Annotated

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.inventory.phones.model import SEEN_AT, Phone, bare_model
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.fields import StoredMac, Uuid, schema
from phoneprov_core.kernel.values import (
    PRIVATE_RANGES,
    Timestamp,
    address_of,
    millis,
    timestamp,
    timestamp_of_millis,
)
from phoneprov_core.switching.deployments.observation import DeviceInformation, FileState
from phoneprov_core.switching.devices.names import states_load

MISSES = 2
"""Looks in a row without an answer after which a phone counts as off: a phone that restarts misses
one."""


class FleetState(Enum):
    """A state of a phone, the worst first. A phone may have several."""

    NEVER_SEEN = "never_seen"
    FOREIGN = "foreign"
    UNREACHABLE = "unreachable"
    WRONG_MODEL = "wrong_model"
    WRONG_LOAD = "wrong_load"
    """The load that its configuration names did not arrive."""
    USER_INACTIVE = "user_inactive"
    """The account whose configuration is on the phone is inactive or was deleted. It is found when
    the state is read, so that it needs no look at the phone."""
    UNREGISTERED = "unregistered"
    FILE_CHANGED = "file_changed"
    FINE = "fine"
    """None of the others."""


class ExpectedLoad(Struct, frozen=True):
    """The load that the configuration on a phone names, with all its files if they are known. It
    should have arrived ``by`` this moment."""

    load: str
    by: str
    files: tuple[str, ...] = ()


class PhoneCheck(Struct, frozen=True):
    """What one look found. ``information`` is the answer, None without one; ``answers`` is None if
    the phone was not asked. ``is_registered`` is what the exchange says, None if nothing; without
    ``exchange`` it did not answer, and what it said last stays. ``expected`` is None if the
    configuration on the phone names no load. A look does not compare the file: see ``files``."""

    answers: bool | None = None
    information: DeviceInformation | None = None
    is_registered: bool | None = None
    exchange: bool = True
    expected: ExpectedLoad | None = None


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
    """What is known of a phone from looking at it. ``state`` is the worst of its ``states``, and
    ``since`` the begin of that; ``misses`` the number of looks in a row without an answer, at most
    ``MISSES``. ``is_other`` is whether something answers that does not state to be a phone.
    ``expected_load`` is the load that its configuration names, ``runs_expected`` whether it runs
    that one; None if that is not known, or the load still has time."""

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
    is_other: bool = False
    expected_load: str | None = None
    runs_expected: bool | None = None
    states: tuple[FleetState, ...] = ()

    def __post_init__(self) -> None:
        if not self.states:
            force_setattr(self, "states", (self.state,))

    def differs(self, before: "SeenPhone | None") -> bool:
        """Whether this is more than another look that found the same."""
        return before is None or replace(self, seen_at=before.seen_at) != before

    @property
    def is_own(self) -> bool:
        """Whether what was reported is, as far as is known, of this phone."""
        return self.reported_mac in {None, self.mac}


def after_look(phone: Phone, before: SeenPhone | None, look: PhoneCheck, now: str) -> SeenPhone:
    """What is known of the phone after a look."""
    known = before or SeenPhone(phone.mac, FleetState.NEVER_SEEN, now)
    found = look.information
    if found is not None and found.is_phone:
        known = replace(
            known,
            seen_at=now,
            answers=True,
            misses=0,
            is_other=False,
            reported_mac=found.mac,
            reported_model=found.model,
            reported_load=found.load,
            serial=found.serial,
        )
    elif look.answers is None:
        known = replace(known, answers=None, misses=0, is_other=False)
    else:
        misses = min(known.misses + 1, MISSES)
        is_off = misses == MISSES or known.answers is not True
        answers = False if is_off else known.answers
        known = replace(known, misses=misses, answers=answers, is_other=found is not None)
    if look.is_registered:
        known = replace(known, seen_at=now)
    if look.exchange:
        known = replace(known, is_registered=look.is_registered)
    runs = _runs_expected(known, look, now)
    expected = look.expected and look.expected.load
    return _in_state(phone, before, replace(known, expected_load=expected, runs_expected=runs), now)


def _runs_expected(known: SeenPhone, look: PhoneCheck, now: str) -> bool | None:
    """Whether the phone runs the expected load. What it stated before says nothing of a load that
    came since."""
    expected = look.expected
    if expected is None:
        return None
    if look.information is None or not look.information.is_phone:
        return known.runs_expected if known.expected_load == expected.load else None
    runs = states_load(known.reported_load, expected.load, expected.files)
    return None if runs is False and now < expected.by else runs


def after_file(phone: Phone, before: SeenPhone | None, file: FileState, now: str) -> SeenPhone:
    """What is known of the phone after its file was compared."""
    known = before or SeenPhone(phone.mac, FleetState.NEVER_SEEN, now)
    return _in_state(phone, before, replace(known, file=file), now)


def after_sign(phone: Phone, before: SeenPhone | None, at: str) -> SeenPhone:
    """What is known of the phone after it fetched a file, requested a page or registered."""
    known = before or SeenPhone(phone.mac, FleetState.NEVER_SEEN, at)
    return _in_state(phone, before, replace(known, seen_at=max(known.seen_at or "", at)), at)


def _in_state(phone: Phone, before: SeenPhone | None, known: SeenPhone, now: str) -> SeenPhone:
    states = states_of(phone, known)
    since = known.since if before is not None and before.state is states[0] else now
    return replace(known, state=states[0], states=states, since=since)


def states_of(phone: Phone, seen: SeenPhone) -> tuple[FleetState, ...]:
    """The states of a phone, of which this is known, the worst first."""
    is_seen, is_own = seen.seen_at is not None, seen.is_own
    is_foreign = is_seen and seen.answers is True and not is_own
    is_away = is_seen and seen.answers is False and not seen.is_registered
    fits = {
        FleetState.NEVER_SEEN: not is_seen,
        FleetState.FOREIGN: is_foreign,
        FleetState.UNREACHABLE: is_away,
        FleetState.WRONG_MODEL: is_own and (_is_other_model(phone, seen) or _is_other(phone, seen)),
        FleetState.WRONG_LOAD: is_own and seen.runs_expected is False,
        FleetState.UNREGISTERED: is_seen and not is_away and seen.is_registered is False,
        FleetState.FILE_CHANGED: seen.file in {"changed", "missing"},
    }
    return tuple(state for state, is_so in fits.items() if is_so) or (FleetState.FINE,)


def _is_other_model(phone: Phone, seen: SeenPhone) -> bool:
    recorded, reported = phone.model, seen.reported_model
    return bool(recorded and reported and bare_model(recorded) != bare_model(reported))


def _is_other(phone: Phone, seen: SeenPhone) -> bool:
    """Whether the firmware of the phone differs from the expected load. The load of its
    configuration is newer than the load recorded by hand."""
    recorded = (phone.software_version or "").strip()
    is_named = seen.expected_load is not None
    return not is_named and states_load(seen.reported_load, recorded) is False


def of_left(states: tuple[FleetState, ...]) -> tuple[FleetState, ...]:
    """The states of a phone with these states that has the configuration of an account that is
    inactive or was deleted, the worst first."""
    found = {*states, FleetState.USER_INACTIVE} - {FleetState.FINE}
    return tuple(state for state in FleetState if state in found)


class CountedFleet(Struct, frozen=True):
    """Number of active phones by last outcome and model, and by the result of their last drill, and
    number of phones with states by state, model and load."""

    recorded: list[tuple[str, str | None, int]]
    observed: list[tuple[tuple[FleetState, ...], str | None, int]]
    drilled: Mapping[str, int] = {}


Days = Mapping[str, Mapping[str, int]]
"""Number of deployments by day (``2026-01-31``) and outcome."""


class Waiting(Struct, frozen=True):
    """What the upkeep of desks still has to do at a phone: to put a profile onto it after an
    adoption, a replacement, the end of a login or a change that was interrupted, or to free it."""

    profile_uuid: (
        Annotated[
            Uuid,
            schema(
                "The profile of the user that is logged in, else the default profile; null without "
                "one: the phone keeps what it has"
            ),
        ]
        | None
    )
    problem: Annotated[str, schema("Why the last attempt failed; null before it failed")] | None
    next_at: Annotated[Timestamp, schema("The next attempt; null: within seconds")] | None


class PhoneStatus(Struct, frozen=True):
    """The states of a phone, the worst of them in words, with what is known of it."""

    mac: StoredMac
    state: Annotated[FleetState, schema("The worst of its states")]
    states: Annotated[tuple[FleetState, ...], schema("All its states, the worst first")]
    message: Annotated[str, schema("The states, in a sentence each")]
    next_step: Annotated[str, schema("What to do about the worst; null if nothing")] | None
    since: Annotated[Timestamp, schema("Begin of the worst state; null if not known")] | None
    seen_at: Annotated[Timestamp, schema(SEEN_AT)] | None
    answers: Annotated[bool, schema("Whether its web server answers; null if not asked")] | None
    reported_model: Annotated[str, schema("Model that it reports", examples=["CP-7945G"])] | None
    reported_load: (
        Annotated[str, schema("Firmware that it reports", examples=["SCCP45.9-4-2SR3-1S"])] | None
    )
    expected_load: (
        Annotated[
            str,
            schema(
                "Firmware that the configuration on the phone names, at the last look; null if it "
                "names none",
                examples=["SCCP45.9-4-2SR3-1S"],
            ),
        ]
        | None
    )
    serial: Annotated[str, schema("Serial number that it reports")] | None
    is_registered: Annotated[bool, schema("Whether the exchange has it; null if unknown")] | None
    web_page: (
        Annotated[
            str,
            schema(
                "The phone's own web page, at its recorded or confirmed address in a private "
                "network; null without one, or if something else answered there",
                examples=["http://10.0.0.5/"],
            ),
        ]
        | None
    )
    file: Annotated[FileState, schema("The file on the server, compared with the deployed one")]
    history: Annotated[
        "tuple[StateChange, ...]", schema("The latest 20 changes of the state, newest first")
    ]
    waiting: Annotated[
        Waiting | None, schema("What the phone is waiting for; null if it is as its desk says")
    ]


class StateChange(Struct, frozen=True):
    """A change of a phone's state."""

    state: Annotated[FleetState, schema("The state")]
    at: Annotated[Timestamp, schema("Begin of the state")]


def status_of(
    phone: Phone,
    seen: SeenPhone | None,
    history: tuple[StateChange, ...] = (),
    *,
    is_left: bool = False,
    waiting: Waiting | None = None,
) -> PhoneStatus:
    """The state of a phone in words. ``is_left`` is whether the account whose configuration is on
    it is inactive or was deleted."""
    known = seen or SeenPhone(phone.mac, FleetState.NEVER_SEEN, "")
    if is_left:
        states = of_left(known.states)
        since = known.since if states[0] is known.state else ""
        known = replace(known, state=states[0], states=states, since=since)
    words = [_words(phone, known, state) for state in known.states]
    return record_of(
        PhoneStatus,
        known,
        message=" ".join(message for message, _ in words),
        next_step=words[0][1],
        since=known.since or None,
        web_page=_web_page(phone, known),
        history=history,
        waiting=waiting,
    )


def waiting_at(desk: DeskRecord, holder: str | None, now: datetime) -> Waiting | None:
    """What a phone is waiting for whose lease has this holder; None if for nothing."""
    desk = desk.as_of(timestamp(now))
    if not desk.waits(holder):
        return None
    is_later = desk.problem is not None and desk.not_before > millis(now)
    next_at = timestamp_of_millis(desk.not_before) if is_later else None
    return Waiting(desk.wanted_profile_uuid, desk.problem, next_at)


_PRIVATE = [ip_network(one) for one in (*PRIVATE_RANGES.split(","), "127.0.0.0/8", "::1")]


def _web_page(phone: Phone, seen: SeenPhone) -> str | None:
    """A link leads to no address that a phone claimed, to none of the internet, and to none where
    something else answered."""
    if phone.login_ip is None or not seen.is_own or seen.is_other:
        return None
    address = address_of(phone.login_ip)
    if address is None or not any(address in network for network in _PRIVATE):
        return None
    return f"http://[{address}]/" if address.version == 6 else f"http://{address}/"


_OTHER = "Something answers there that does not state to be a phone."


def _words(phone: Phone, seen: SeenPhone, state: FleetState) -> tuple[str, str | None]:
    at = f" at {phone.phone_ip}" if phone.phone_ip else ""
    match state:
        case FleetState.NEVER_SEEN if phone.phone_ip is None:
            return "The phone has no recorded address.", "Record its phone_ip, or adopt it."
        case FleetState.NEVER_SEEN:
            message = f"The phone was never seen{at}."
            if seen.is_other:
                message += f" {_OTHER}"
            return message, "Connect it, or correct its phone_ip; its web access must be enabled."
        case FleetState.FOREIGN:
            message = f"Another phone answers{at}: {seen.reported_mac}."
            return message, "Correct the phone_ip of both phones, or replace the phone by that one."
        case FleetState.UNREACHABLE:
            message = f"The phone does not answer{at}."
            if seen.is_other:
                message += f" {_OTHER}"
            return message, "Check its power and network, its phone_ip and its web access."
        case FleetState.WRONG_MODEL if _is_other_model(phone, seen):
            message = f"The phone is a {seen.reported_model}, recorded is {phone.model}."
            return message, "Correct the model of the phone, or replace the phone."
        case FleetState.WRONG_MODEL:
            message = f"The phone runs {seen.reported_load}, recorded is {phone.software_version}."
            return message, "Correct software_version, or give the phone its firmware."
        case FleetState.WRONG_LOAD:
            message = (
                f"The phone runs {seen.reported_load}, its configuration names "
                f"{seen.expected_load}: the load did not arrive."
            )
            step = "Check that the load is complete on the server and fits the model, then restart."
            return message, step
        case FleetState.USER_INACTIVE:
            message = "The phone has the configuration of an account that is no longer active."
            return message, "Switch the phone to the profile of another user, or deactivate it."
        case FleetState.UNREGISTERED:
            message = "The exchange does not have the phone."
            return message, "Check the configuration on the phone and its entry in the exchange."
        case FleetState.FILE_CHANGED:
            message = "The configuration of the phone is missing on the server."
            if seen.file != "missing":
                message = "Another program changed the configuration of the phone on the server."
            return message, "Preview a switch to see the difference, then switch or roll back."
        case FleetState.FINE:
            message = "The phone is as it is recorded"
            if not (seen.answers or seen.is_registered):
                message = "The phone was seen; whether it answers now is not known"
            elif seen.expected_load and not seen.runs_expected:
                message += f"; it is not known whether it runs {seen.expected_load}"
            return f"{message}.", None
