"""Phone profiles."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Check, Command
from phoneprov_core.kernel.fields import Description, Line, MacAddress, Uuid, schema
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.times import Timestamp
from phoneprov_core.phones.model import Family, Phone, bare_model, family_text

FirmwareFamily = Annotated[
    Literal[Family, ""],
    Check(lambda family: family or None),
    schema(description="The firmware family it is for; empty or null means all"),
]
CnfXml = Annotated[
    str,
    schema(
        description="The full device configuration, well-formed XML",
        examples=["<device><deviceProtocol>SCCP</deviceProtocol></device>"],
    ),
]
Models = Annotated[
    tuple[Line, ...],
    Check(values.each(values.required_text, most=200)),
    schema(
        description="Phone models it works with; empty means all",
        maxItems=200,
        examples=[["CP-7945G"]],
    ),
]


class ProfileRecord(Struct, frozen=True):
    """A profile as it is stored: its configuration is that of its newest revision."""

    uuid: Uuid
    user_uuid: Uuid
    name: str
    description: str | None
    compatible_models: tuple[str, ...]
    software_type: Family | None
    created_at: Timestamp
    updated_at: Timestamp

    def objection_to(self, phone: Phone) -> str | None:
        """Why this profile does not fit a phone, or None. What is not recorded of the phone
        does not count."""
        if self.compatible_models and phone.model:
            models = {bare_model(model) for model in self.compatible_models}
            if bare_model(phone.model) not in models:
                return f"it is for {', '.join(self.compatible_models)}, not for {phone.model}"
        if self.software_type:
            family = family_text(phone.software_type)
            if family and family != self.software_type:
                return f"it is for {self.software_type} phones, not for {phone.software_type}"
        return None


class Profile(Struct, frozen=True):
    """A profile with the whole configuration that a desk phone is given."""

    uuid: Uuid
    user_uuid: Uuid
    name: Annotated[str, schema(examples=["Ada at the front desk"])]
    description: str | None
    cnf_xml: CnfXml
    compatible_models: tuple[str, ...]
    software_type: Family | None
    created_at: Timestamp
    updated_at: Timestamp

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


def whole(record: ProfileRecord, cnf_xml: str) -> Profile:
    """The profile with its newest configuration."""
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return Profile(cnf_xml=cnf_xml, **fields)


RevisionNumber = Annotated[
    int, schema(description="Counts the revisions of a profile, from 1", minimum=1)
]
Sha256 = Annotated[
    str,
    schema(description="SHA-256 of the exact bytes, in hex", pattern="^[0-9a-f]{64}$"),
]


class Revision(Struct, frozen=True):
    """What a profile's configuration was from one save to the next. It never changes."""

    uuid: Uuid
    profile_uuid: Uuid
    number: RevisionNumber
    sha256: Sha256
    size: Annotated[int, schema(description="In bytes", minimum=0)]
    created_at: Timestamp
    created_by: Annotated[Uuid, schema(description="Who saved it")]


class NewProfile(Command, frozen=True, kw_only=True):
    """A profile to be kept for a user."""

    user_uuid: Uuid
    name: Line
    cnf_xml: CnfXml
    description: Description | None = None
    compatible_models: Models = ()
    software_type: FirmwareFamily | None = None

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


class ProfilePatch(Command, frozen=True, kw_only=True):
    """Changes to a profile."""

    user_uuid: Uuid | UnsetType = UNSET
    name: Line | UnsetType = UNSET
    cnf_xml: CnfXml | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    compatible_models: Models | UnsetType = UNSET
    software_type: FirmwareFamily | UnsetType | None = UNSET

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


class SwitchRequest(Command, frozen=True, kw_only=True):
    """Which profile goes onto which phone."""

    profile_uuid: Uuid
    mac: MacAddress


class Switched(Struct, frozen=True):
    """What a switch came to: the profile's name, the phone, and ``ok`` or what kept the
    phone from being restarted."""

    profile: Annotated[str, schema(description="The profile's name")]
    mac: str
    restart: Annotated[str, schema(description="`ok`, or what went wrong", examples=["ok"])]
