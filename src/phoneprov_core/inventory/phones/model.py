"""Phones of the inventory."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.fields import (
    MAC,
    AnyLine,
    Check,
    CreatedAt,
    IpAddress,
    Location,
    MacAddress,
    Notes,
    OptionalLine,
    SoftwareType,
    StoredMac,
    UpdatedAt,
    Uuid,
    schema,
)
from phoneprov_core.kernel.search import ORDER, Filter, Query, SearchFields, Whether
from phoneprov_core.kernel.values import Timestamp, mac as mac_of

Model = Annotated[OptionalLine, schema("Model", examples=["CP-7945G"])]

Family = Literal["SCCP", "SIP", "SIPE"]
"""A firmware family. ``SIPE`` is SIP firmware with Cisco's extensions."""

FAMILIES: tuple[Family, ...] = get_args(Family)

Brand = Annotated[OptionalLine, schema("Manufacturer", examples=["Cisco"])]
PhoneName = Annotated[OptionalLine, schema("Name of the phone", examples=["Front desk"])]
Hostname = Annotated[OptionalLine, schema("Host name", examples=["SEP001BD4123456"])]
PhoneIp = Annotated[IpAddress, schema("IPv4 or IPv6 address of the phone; written by level 0 only")]
Vlan = Annotated[OptionalLine, schema("VLAN", examples=["120"])]
SoftwareVersion = Annotated[
    OptionalLine, schema("Firmware version", examples=["SCCP45.9-4-2SR3-1S"])
]
Active = Annotated[bool, schema("Whether profiles may be switched onto the phone", examples=[True])]
AddressConfirmed = Annotated[
    bool,
    schema(
        "Present and false while level 0 has neither recorded nor confirmed `phone_ip`: the phone "
        "was adopted with a PIN, or did not state its MAC address when it was adopted. It gets no "
        "login of the fleet, and is restarted by the manager interface or by hand",
        examples=[False],
    ),
]
AdoptedWithPin = Annotated[
    bool,
    schema(
        "Present and true if a user adopted the phone with a PIN and level 0 has not confirmed its "
        "address since",
        examples=[True],
    ),
]


class PhoneFacts(Struct, frozen=True):
    """What is recorded of a phone, in every view of it."""

    mac: StoredMac
    brand: Brand | None
    model: Model | None
    description: Notes | None
    name: PhoneName | None
    hostname: Hostname | None
    location: Location | None
    phone_ip: PhoneIp | None
    phone_vlan: Vlan | None
    software_version: SoftwareVersion | None
    software_type: SoftwareType | None
    is_active: Active
    created_at: CreatedAt


class Phone(PhoneFacts, frozen=True, omit_defaults=True):
    """A desk phone, known by its MAC."""

    updated_at: UpdatedAt
    address_confirmed: AddressConfirmed = True
    adopted_with_pin: AdoptedWithPin = False

    @property
    def login_ip(self) -> str | None:
        """The address that logins of the fleet may be sent to: one that level 0 answers for."""
        return self.phone_ip if self.address_confirmed else None


class CreatePhone(Command, frozen=True, kw_only=True):
    """A phone to be created; only its MAC is required."""

    mac: MacAddress
    brand: Brand | None = None
    model: Model | None = None
    description: Notes | None = None
    name: PhoneName | None = None
    hostname: Hostname | None = None
    location: Location | None = None
    phone_ip: PhoneIp | None = None
    phone_vlan: Vlan | None = None
    software_version: SoftwareVersion | None = None
    software_type: SoftwareType | None = None
    is_active: Active = True


class PhonePatch(Command, frozen=True, kw_only=True):
    """Changes to a phone; its MAC never changes."""

    brand: Brand | UnsetType | None = UNSET
    model: Model | UnsetType | None = UNSET
    description: Notes | UnsetType | None = UNSET
    name: PhoneName | UnsetType | None = UNSET
    hostname: Hostname | UnsetType | None = UNSET
    location: Location | UnsetType | None = UNSET
    phone_ip: PhoneIp | UnsetType | None = UNSET
    phone_vlan: Vlan | UnsetType | None = UNSET
    software_version: SoftwareVersion | UnsetType | None = UNSET
    software_type: SoftwareType | UnsetType | None = UNSET
    is_active: Active | UnsetType = UNSET
    address_confirmed: (
        Annotated[bool, schema("true confirms `phone_ip`; written by level 0 only")] | UnsetType
    ) = UNSET


def family_of(software_type: str | None) -> str:
    """The firmware family that a software type names, which is free text: without surrounding
    blanks and in upper case; empty if it is not recorded."""
    return (software_type or "").strip().upper()


def speaks_sip(software_type: str | None) -> bool:
    """Whether firmware of this type speaks SIP. Every other type counts as SCCP."""
    return family_of(software_type) in {"SIP", "SIPE"}


def is_multiplatform(software_type: str | None) -> bool:
    """Whether this is Cisco's multiplatform (third-party call control) firmware."""
    return family_of(software_type) in {"MPP", "3PCC"}


def misfit(phone: Phone, models: Sequence[str], software_type: str | None) -> str | None:
    """Why a configuration for these models and this firmware does not fit the phone, or None.
    Missing data fit."""
    if models and phone.model and bare_model(phone.model) not in map(bare_model, models):
        return f"it is for {', '.join(models)}, not for {phone.model}"
    if software_type:
        family = family_of(phone.software_type)
        if family and family != software_type:
            return f"it is for {software_type} phones, not for {phone.software_type}"
    return None


def software_type_of(phone: Phone, profile: str | None) -> str | None:
    """The software type of a phone: the recorded type, otherwise the type of its new profile."""
    return (phone.software_type or "").strip() or profile


_MODEL = re.compile(
    r"(?:cisco\s+)?(?:(?:unified\s+)?ip\s+phone\s+)?(?:[cd]p-)?"
    r"(.+?)(?:g|g?-ge|nr)?(?:-ex)?(?:-k9)?=?",
    re.DOTALL,
)


def bare_model(model: str) -> str:
    """The bare form of a model, in lower case, without what phones, CUCM and chan_sccp write before
    and after it: ``CP-7945G``, ``Cisco Unified IP Phone 7945G`` and ``7945`` are ``7945``, and so
    the same model; so are ``CP-7971G-GE`` and ``7971``, ``CP-8851NR-K9=`` and ``8851``."""
    match = _MODEL.fullmatch(model.strip().casefold())
    return match[1] if match else ""


PHONE_FIELDS = SearchFields(
    texts=("name", "hostname", "phone_ip", "model", "location"),
    numbers=("mac",),
    labels=("name", "location"),
)

Sort = Literal[
    "mac", "-mac", "name", "-name", "model", "-model", "location", "-location",
    "phone_ip", "-phone_ip", "software_type", "-software_type",
]  # fmt: skip
SummarySort = Literal[
    "mac", "-mac", "name", "-name", "model", "-model", "location", "-location",
    "phone_ip", "-phone_ip", "software_type", "-software_type", "last_outcome", "-last_outcome",
    "username", "-username", "profile_name", "-profile_name", "state", "-state",
    "seen_at", "-seen_at", "number", "-number",
]  # fmt: skip
LastOutcome = Literal["none", "running", "deployed", "failed", "unknown", "interrupted"]
"""The outcome of the deployment of a phone with the largest number; ``none`` without one."""
_OUTCOME = (
    "Only phones whose newest deployment has this outcome; `none`: phones without a deployment. "
    "Needs level 0"
)
LastDrill = Literal["none", "agrees", "differs"]
_DRILL = (
    "Only phones whose newest drill of an emergency call with a known result has this one; `none`: "
    "phones without one. Needs level 0"
)
_IN_USE = "Only phones at which a user is logged in, or is not. Needs level 0"
_NUMBER = (
    "Only phones with this number: of the user that is logged in, else of the desk, else of the "
    "owner of the profile that is on the phone. Needs level 0"
)
_USER = "Only phones at which this user is logged in; another user than the caller needs level 0"

StateFilter = Literal[
    "never_seen", "foreign", "unreachable", "wrong_model", "wrong_load", "user_inactive",
    "unregistered", "file_changed", "fine",
]  # fmt: skip
_STATE = (
    "Only active phones that have this state, as last observed; a phone may have several. Needs "
    "level 0"
)
SEEN_AT = "When it last answered, registered, fetched a file or requested a page, to the minute"

MOST_NAMED = 100


def _macs(value: str) -> str:
    parts = value.split(",")
    if len(parts) > MOST_NAMED:
        raise ValueError(f"must have at most {MOST_NAMED} MAC addresses")
    return ",".join(mac_of(part) for part in parts)


_MACS = f"Only these phones: MAC addresses, separated by commas, {MOST_NAMED} at most"
_ONE = MAC[1:-1].replace("*$)", "*(?:,|$))")
_LIST = f"^{_ONE}(?:,{_ONE}){{0,{MOST_NAMED - 1}}}$"


class PhoneFilters(QueryCommand, frozen=True, kw_only=True):
    """Which phones a list shows; None of a field means all. ``user_uuid`` is who is logged in at
    the phone."""

    q: Query | None = None
    brand: Filter | None = None
    model: Filter | None = None
    location: Filter | None = None
    phone_vlan: Filter | None = None
    software_version: Filter | None = None
    software_type: Filter | None = None
    is_active: Whether | None = None
    last_outcome: Annotated[LastOutcome, schema(_OUTCOME)] | None = None
    last_drill: Annotated[LastDrill, schema(_DRILL)] | None = None
    user_uuid: Annotated[Uuid, schema(_USER)] | None = None
    in_use: Annotated[bool, schema(_IN_USE)] | None = None
    number: Annotated[AnyLine, schema(_NUMBER)] | None = None
    state: Annotated[StateFilter, schema(_STATE)] | None = None
    macs: Annotated[str, Check(_macs), schema(_MACS, pattern=_LIST)] | None = None


class PhoneSearch(PhoneFilters, frozen=True, kw_only=True):
    """Which phones a list shows, and their order."""

    sort: Annotated[Sort, ORDER] | None = None


class SummarySearch(PhoneFilters, frozen=True, kw_only=True):
    """Which phones a list with their use shows, and their order."""

    sort: Annotated[SummarySort, ORDER] | None = None


CountedField = Literal["brand", "model", "location", "software_type"]


class CountsQuery(QueryCommand, frozen=True, kw_only=True):
    """Which values of phones are counted."""

    by: Annotated[CountedField, schema("The field")] = "location"
    is_active: Annotated[bool, schema("Count active phones only")] = False


class CountedPhones(Struct, frozen=True):
    """The phones with one value of a field. Values that count as the same are one: that with the
    most phones."""

    value: Annotated[str, schema("The value; null for phones without one")] | None
    phones: Annotated[int, schema("Number of phones", minimum=1, examples=[120])]


class PhoneUse(Struct, frozen=True):
    """What is on a phone, and who is logged in there."""

    last_outcome: Annotated[LastOutcome, schema("Outcome of the newest deployment")]
    last_changed_at: Annotated[Timestamp, schema("Time of the newest deployment")] | None
    last_confirmation: (
        Annotated[
            Literal["none", "pending", "confirmed", "not_confirmed"],
            schema("Confirmation of the newest deployment"),
        ]
        | None
    )
    profile_uuid: Annotated[Uuid, schema("Profile that is on the phone")] | None
    profile_name: Annotated[str, schema("Its name when it was deployed")] | None
    user_uuid: Annotated[Uuid, schema("User that is logged in")] | None
    username: Annotated[str, schema("Username of that user", examples=["ada"])] | None
    since: Annotated[Timestamp, schema("Time of the login")] | None
    hotdesk: Annotated[bool, schema("Whether users can log in at the phone")]
    default_profile_uuid: Annotated[Uuid, schema("Profile while no user is logged in")] | None
    default_profile_name: Annotated[str, schema("Name of that profile")] | None
    state: Annotated[StateFilter, schema("Worst state, as last observed; null before")] | None
    seen_at: Annotated[Timestamp, schema(SEEN_AT)] | None


class PhoneSummary(Phone, frozen=True, kw_only=True):
    """A phone with what is on it and who is logged in there."""

    use: Annotated[PhoneUse, schema("What is on the phone, and who is logged in there")]


def by_value(field: str, found: Mapping[str | None, int]) -> list[CountedPhones]:
    """Numbers of phones of each value, the most first; spellings that count as the same are one."""
    merged: dict[str, CountedPhones] = {}
    for value, count in sorted(found.items(), key=lambda one: (-one[1], one[0] or "")):
        key = plain_value(field, value)
        known = merged.get(key, CountedPhones(value or None, 0))
        merged[key] = CountedPhones(known.value, known.phones + count)
    return sorted(merged.values(), key=lambda one: (-one.phones, one.value or ""))


def plain_value(field: str, value: str | None) -> str:
    """A form that is equal for values of a field that count as the same: models in their bare
    form, other values without case and surrounding blanks."""
    return bare_model(value or "") if field == "model" else (value or "").strip().casefold()
