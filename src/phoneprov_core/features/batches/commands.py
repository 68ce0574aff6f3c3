"""Commands of batches: the phones, the action and the rate."""

from collections import Counter
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Struct

from phoneprov_core.features.batches.model import (
    MOST_FIRST,
    AsOf,
    AtOnce,
    CanarySize,
    FamilyFilter,
    FirstMinutes,
    LocationFilter,
    ModelFilter,
    Newest,
    OnlyChanged,
    PerMinute,
    ProfileToSwitch,
    RevisionToSwitch,
    StartAt,
    StopAfterFailures,
    TemplateFilter,
    UndoOnStop,
    WaitMinutes,
)
from phoneprov_core.inventory.phones.model import Phone, bare_model, family_of
from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import Check, MacAddress, Uuid, each, schema, within
from phoneprov_core.kernel.values import uuid

MOST_MACS = 5000


def _macs(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each(addresses.mac, most=MOST_MACS)(given)))


def _first_macs(given: tuple[str, ...]) -> tuple[str, ...]:
    macs = each(addresses.mac, most=MOST_FIRST)(given)
    twice = [mac for mac, times in Counter(macs).items() if times > 1]
    if twice:
        raise ValueError(f"names {', '.join(twice)} more than once")
    return macs


class BatchTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """A phone, and the profile that it gets."""

    mac: Annotated[MacAddress, schema("MAC address of the phone")]
    profile_uuid: Annotated[Uuid, schema("UUID of the profile")]


def _items(given: tuple[BatchTarget, ...]) -> tuple[BatchTarget, ...]:
    if len(given) > MOST_MACS:
        raise ValueError(f"must have at most {MOST_MACS} elements")
    checked: dict[str, BatchTarget] = {}
    for number, item in enumerate(given, 1):
        try:
            item = BatchTarget(addresses.mac(item.mac), uuid(item.profile_uuid))  # noqa: PLW2901
        except ValueError as error:
            raise ValueError(f"has element {number}, of which a field {error}") from None
        if checked.setdefault(item.mac, item) != item:
            raise ValueError(f"names two profiles for {item.mac}")
    return tuple(checked.values())


_FILTERS = ("model", "location", "software_type", "template")
_TEXT = {"type": "string"}
_NULL = {"type": "null"}
_NO_FILTERS = {name: {"enum": [None, ""]} for name in _FILTERS}
_LISTED = {
    "required": ["macs"],
    "properties": {"macs": {"type": "array"}, "items": _NULL, **_NO_FILTERS},
}
_PAIRED = {
    "required": ["items"],
    "properties": {
        "items": {"type": "array"},
        "macs": _NULL,
        "profile_uuid": _NULL,
        "action": {"const": "switch"},
        **_NO_FILTERS,
    },
}
_EVERY = {
    "required": ["as_of"],
    "properties": {"as_of": _TEXT, "macs": _NULL, "items": _NULL, **_NO_FILTERS},
}
_FILTERED = {
    "properties": {"macs": _NULL, "items": _NULL},
    "anyOf": [
        {"required": [name], "properties": {name: {**_TEXT, "minLength": 1}}} for name in _FILTERS
    ],
}
_PROFILE = {"required": ["profile_uuid"], "properties": {"profile_uuid": {**_TEXT, "minLength": 1}}}
_SWITCH = {"properties": {"action": {"const": "switch"}}}
_EARLIER = {
    "properties": {
        "action": {"const": "switch"},
        **dict.fromkeys(("items", "profile_uuid", "revision"), _NULL),
        "template": {"enum": [None, ""]},
        "newest": {"const": False},
    }
}
_TOGETHER = {
    "allOf": [
        {"oneOf": [_LISTED, _PAIRED, _FILTERED, _EVERY]},
        {"anyOf": [{"properties": {"as_of": _NULL}}, _EARLIER]},
        {"anyOf": [_SWITCH, {"properties": dict.fromkeys(("first", "first_macs"), _NULL)}]},
        {"anyOf": [{"properties": {name: _NULL}} for name in ("first", "first_macs")]},
        {"anyOf": [{"properties": {"revision": _NULL}}, _PROFILE]},
        {"anyOf": [_SWITCH, {"properties": {"profile_uuid": _NULL}}]},
    ]
}
"""Fields that require or exclude each other; used only in the API description."""


class CreateBatch(Command, frozen=True, kw_only=True):
    """A batch to be started: its phones, the action and the rate.

    The phones are listed in ``macs``, or in ``items`` with a profile for each, or are all active
    ones that match the given filters ``model``, ``location``, ``software_type`` and ``template``.
    A switch deploys the newest revision of one profile, or its ``revision``; without
    ``profile_uuid`` the newest revision of the profile that is on each phone. A phone whose profile
    or template changed since is left alone, unless ``newest`` is set.

    With ``as_of`` each phone gets back exactly what was on it at that moment; the filters select
    the phones of then, and none is needed. A phone that cannot get it is left alone.
    """

    action: Annotated[Literal["switch", "restart"], schema("Action on each phone")]
    as_of: AsOf | None = None
    profile_uuid: ProfileToSwitch | None = None
    revision: RevisionToSwitch | None = None
    macs: (
        Annotated[
            tuple[MacAddress, ...],
            Check(_macs),
            schema(
                "MAC addresses of the phones, in the order in which they are switched",
                minItems=1,
                maxItems=MOST_MACS,
                examples=[["00:1B:D4:12:34:56"]],
            ),
        ]
        | None
    ) = None
    model: ModelFilter | None = None
    location: LocationFilter | None = None
    software_type: FamilyFilter | None = None
    at_once: AtOnce = 10
    per_minute: PerMinute | None = None
    stop_after_failures: StopAfterFailures | None = 25
    wait_minutes: WaitMinutes = 60
    items: (
        Annotated[
            tuple[BatchTarget, ...],
            Check(_items),
            schema(
                "Phones with the profile that each gets, in the order in which they are switched",
                minItems=1,
                maxItems=MOST_MACS,
            ),
        ]
        | None
    ) = None
    template: TemplateFilter | None = None
    start_at: StartAt | None = None
    first: CanarySize | None = None
    first_minutes: FirstMinutes = 10
    undo_on_stop: UndoOnStop = False
    first_macs: (
        Annotated[
            tuple[MacAddress, ...],
            Check(_first_macs),
            schema(
                "MAC addresses of the phones that are switched first, in place of a number in "
                "`first`; each one must be among the phones of the batch",
                minItems=1,
                maxItems=MOST_FIRST,
                uniqueItems=True,
                examples=[["00:1B:D4:12:34:56"]],
            ),
        ]
        | None
    ) = None
    only_changed: OnlyChanged = False
    newest: Newest = False

    JSON_SCHEMA: ClassVar[dict[str, Any]] = {
        **_TOGETHER,
        "examples": [
            {
                "action": "switch",
                "profile_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11",
                "location": "2nd floor",
                "at_once": 5,
                "per_minute": 30,
            }
        ],
    }

    def problems(self) -> list[Problem]:
        problems = []
        if self.revision is not None and not 1 <= self.revision < 2**31:
            problems.append(Problem("revision", "must be a whole number of at least 1"))
        if self.action == "restart" and self.profile_uuid is not None:
            problems.append(Problem("profile_uuid", "is not allowed with `action=restart`"))
        if self.revision is not None and self.newest:
            problems.append(Problem("newest", "is not allowed with `revision`"))
        if self.revision is not None and self.profile_uuid is None:
            problems.append(Problem("profile_uuid", "is required with `revision`"))
        problems += [
            Problem(name, "is not allowed with `action=restart`")
            for name in ("first", "first_macs", "undo_on_stop", "only_changed", "newest")
            if self.action == "restart" and getattr(self, name)
        ]
        if self.first_macs is not None and not self.first_macs:
            problems.append(Problem("first_macs", "must name at least one phone"))
        if self.first_macs and self.first:
            problems.append(Problem("first", "is not allowed with `first_macs`"))
        if self.as_of is not None:
            beside = ("items", "profile_uuid", "revision", "template", "newest")
            problems += [
                Problem(name, "is not allowed with `as_of`")
                for name in beside
                if getattr(self, name)
            ]
            if self.action == "restart":
                problems.append(Problem("as_of", "is not allowed with `action=restart`"))
        filters = [name for name in _FILTERS if getattr(self, name)]
        if self.items is not None:
            others = ("macs", "profile_uuid", *_FILTERS)
            problems += [
                Problem(name, "is not allowed with `items`")
                for name in others
                if getattr(self, name)
            ]
            if self.action == "restart":
                problems.append(Problem("items", "is not allowed with `action=restart`"))
            if not self.items:
                problems.append(Problem("items", "must name at least one phone"))
        if self.macs is not None and not self.macs:
            problems.append(Problem("macs", "must name at least one phone"))
        if self.macs is not None and filters:
            problems.append(Problem(filters[0], "is not allowed with `macs`"))
        is_selecting = bool(filters) or self.as_of is not None
        if self.macs is None and self.items is None and not is_selecting:
            problems.append(
                Problem(
                    "macs",
                    "is required, or items, or one of model, location, software_type, template and "
                    "as_of",
                )
            )
        return problems

    @property
    def number_first(self) -> int:
        """Number of phones that are switched and confirmed first."""
        return self.first or len(self.first_macs or ())

    def selects(self, phone: Phone) -> bool:
        """Whether an active phone matches every filter that is set. Case is ignored, and models are
        compared in their bare form."""
        return (
            phone.is_active
            and (not self.model or bare_model(self.model) == bare_model(phone.model or ""))
            and (not self.location or _plain(self.location) == _plain(phone.location))
            and (
                not self.software_type
                or family_of(self.software_type) == family_of(phone.software_type)
            )
        )


def _plain(location: str | None) -> str:
    return (location or "").strip().casefold()


class WantedPhones(QueryCommand, frozen=True, kw_only=True):
    """Filter for a list of a batch's phones; None means all."""

    state: (
        Annotated[
            Literal["waiting", "running", "done", "failed", "unknown", "left_out"],
            schema("Only phones in this state"),
        ]
        | None
    ) = None
    after: (
        Annotated[
            int,
            within(
                0,
                2**31 - 1,
                "Begin after the phone at this position, without a total; 0 begins with the "
                "first. Not allowed with `offset`",
            ),
        ]
        | None
    ) = None
