"""The state of a phone in words: what is shown of it, and what is to be done next."""

from datetime import datetime
from ipaddress import ip_network
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.fleet.states import FleetState, SeenPhone, is_other_model, of_left
from phoneprov_core.inventory.phones.model import SEEN_AT, Phone
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
from phoneprov_core.switching.deployments.observation import FileState


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
            return message, "Correct the phone_ip of both phones, or replace one by the other."
        case FleetState.UNREACHABLE:
            message = f"The phone does not answer{at}."
            if seen.is_other:
                message += f" {_OTHER}"
            return message, "Check its power and network, its phone_ip and its web access."
        case FleetState.WRONG_MODEL if is_other_model(phone, seen):
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
