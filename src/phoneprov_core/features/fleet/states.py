"""The states of a phone, computed from its records and from observations."""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from phoneprov_core.inventory.phones.model import Phone, bare_model
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
    this load; None if that is not known, or the load still has time."""

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
        FleetState.WRONG_MODEL: is_own and (is_other_model(phone, seen) or _is_other(phone, seen)),
        FleetState.WRONG_LOAD: is_own and seen.runs_expected is False,
        FleetState.UNREGISTERED: is_seen and not is_away and seen.is_registered is False,
        FleetState.FILE_CHANGED: seen.file in {"changed", "missing"},
    }
    return tuple(state for state, is_so in fits.items() if is_so) or (FleetState.FINE,)


def is_other_model(phone: Phone, seen: SeenPhone) -> bool:
    """Whether the phone states another model than the recorded one."""
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


Days = Mapping[str, Mapping[str, int]]
"""Number of deployments by day (``2026-01-31``) and outcome."""
