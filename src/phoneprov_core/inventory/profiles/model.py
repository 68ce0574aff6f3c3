"""Phone profiles."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal
from xml.sax.saxutils import escape, quoteattr

import msgspec
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.inventory.phones.model import Family
from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Command, record_of, wrong
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import (
    SECRET,
    Check,
    CreatedAt,
    Line,
    MacAddress,
    Notes,
    RecordUuid,
    Redacted,
    Size,
    StoredMac,
    UpdatedAt,
    Uuid,
    each,
    schema,
    within,
)
from phoneprov_core.kernel.values import Timestamp

FirmwareFamily = Annotated[
    Literal[Family, ""],
    Check(lambda family: family or None),
    schema("Firmware family; empty or null means all"),
]
CnfXml = Annotated[
    str,
    SECRET,
    schema(
        "Full device configuration, well-formed XML",
        examples=["<device><deviceProtocol>SCCP</deviceProtocol></device>"],
    ),
]
Models = Annotated[
    tuple[Line, ...],
    Check(each(values.required_text, most=200)),
    schema(
        "Phone models that the profile works with; empty means all",
        maxItems=200,
        examples=[["CP-7945G"]],
    ),
]

TemplateName = Annotated[
    Line, schema("Name of the template; its variants share it", examples=["office"])
]
TemplateRevision = Annotated[
    int, schema("Number of the text, from 1; grows with each change", minimum=1, examples=[3])
]

MOST_VALUES = 200
LONGEST_VALUE = 4096
_KEY = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"


def checked_values(given: dict[str, str]) -> dict[str, str]:
    """A rule of a field: the texts of a profile, by name."""
    if len(given) > MOST_VALUES:
        raise ValueError(f"must have at most {MOST_VALUES} texts")
    for key in given:
        if not re.fullmatch(_KEY, key, re.ASCII):
            raise ValueError(
                "must have names of at most 64 letters, digits and _ that begin with a letter"
            )
    checked = {}
    for key, text in given.items():
        try:
            checked[key] = values.text(text, longest=LONGEST_VALUE)
        except ValueError as error:
            raise ValueError(f"has the text {key}, which {error}") from None
    return checked


Values = Annotated[
    dict[str, str],
    SECRET,
    Check(checked_values),
    schema(
        "Texts that the template finds in `values`",
        maxProperties=MOST_VALUES,
        propertyNames={"pattern": _KEY},
        examples=[{"vlan": "120"}],
    ),
]

Owner = Annotated[Uuid, schema("UUID of the owner")]
ProfileName = Annotated[Line, schema("Display name", examples=["Ada at the front desk"])]
ProfileFamily = Annotated[Family, schema("Firmware family; null means all")]
ProfileTemplate = Annotated[
    TemplateName,
    schema("Name of the template that the configuration is rendered from", examples=["office"]),
]
ProfileUuid = Annotated[Uuid, schema("UUID of the profile")]


class ProfileRecord(Struct, frozen=True):
    """A profile as it is stored, without configuration: that is in its newest revision."""

    uuid: RecordUuid
    user_uuid: Owner
    name: ProfileName
    description: Notes | None
    compatible_models: tuple[str, ...]
    software_type: Family | None
    created_at: CreatedAt
    updated_at: UpdatedAt


class Profile(Redacted, frozen=True):
    """A profile with its complete configuration, or with a template and its values. Only the
    latter has these two fields. Configuration and values are null for a caller who may not read
    them."""

    uuid: RecordUuid
    user_uuid: Owner
    name: ProfileName
    description: Notes | None
    cnf_xml: CnfXml | None
    compatible_models: Models
    software_type: ProfileFamily | None
    created_at: CreatedAt
    updated_at: UpdatedAt
    template: ProfileTemplate | UnsetType = UNSET
    values: Values | UnsetType | None = UNSET


class Content(Redacted, frozen=True):
    """What a revision holds: a configuration, or a template's name and its values in JSON.
    ``by_level_0`` is whether level 0 saved it, or a user changed the values of a revision that
    level 0 saved."""

    text: Annotated[str, SECRET]
    template: str | None = None
    by_level_0: bool = False

    @property
    def values(self) -> dict[str, str]:
        """The texts for the template."""
        return msgspec.json.decode(self.text, type=dict[str, str])

    def as_xml(self) -> str:
        """A text that can be compared and masked like a configuration."""
        if self.template is None:
            return self.text
        values = self.values
        lines = [f"  <{name}>{escape(text)}</{name}>" for name, text in values.items()]
        name = quoteattr(self.template)
        return "\n".join([f"<profile template={name}>", *lines, "</profile>", ""])


def from_template(template: str, values: Mapping[str, str]) -> Content:
    """The content of a revision with a template."""
    return Content(msgspec.json.encode(values).decode(), template)


def whole(record: ProfileRecord, content: Content) -> Profile:
    """The profile with its newest content."""
    if content.template is None:
        return record_of(Profile, record, cnf_xml=content.text)
    return record_of(
        Profile, record, cnf_xml=None, template=content.template, values=content.values
    )


RevisionNumber = Annotated[
    int, schema("Number of a revision of the profile, from 1", minimum=1, examples=[2])
]
AnyRevision = Annotated[
    int, within(1, 2**31 - 1, "Number of a revision of that profile", examples=[2])
]
CurrentRevision = Annotated[
    AnyRevision, schema("Number of the newest revision; 409 if the profile has another one")
]
Sha256 = Annotated[
    str,
    schema(
        "SHA-256 of the exact bytes, in hexadecimal digits",
        pattern="^[0-9a-f]{64}$",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ),
]


class Revision(Struct, frozen=True):
    """The configuration of a profile from one save to the next. It never changes."""

    uuid: RecordUuid
    profile_uuid: ProfileUuid
    number: RevisionNumber
    sha256: Sha256
    size: Size
    created_at: Annotated[Timestamp, schema("Time when it was saved")]
    created_by: Annotated[Uuid, schema("Account that saved it")]
    template: (
        Annotated[TemplateName, schema("Name of its template; null if it has its own text")] | None
    ) = None

    def version_of(self) -> tuple[str, str, int]:
        """A revision is a version of its profile."""
        return "profile", self.profile_uuid, self.number


class CreateProfile(Command, frozen=True, kw_only=True):
    """A profile to be created for a user, with a configuration or a template."""

    user_uuid: Owner
    name: ProfileName
    cnf_xml: CnfXml | None = None
    description: Notes | None = None
    compatible_models: Models = ()
    software_type: FirmwareFamily | None = None
    template: ProfileTemplate | None = None
    values: Values | None = None

    JSON_SCHEMA: ClassVar[dict[str, Any]] = {
        "oneOf": [
            {
                "required": ["cnf_xml"],
                "properties": {
                    "cnf_xml": {"type": "string", "minLength": 1},
                    "template": {"enum": [None, ""]},
                    "values": {"type": "null"},
                },
            },
            {
                "required": ["template"],
                "properties": {
                    "template": {"type": "string", "minLength": 1},
                    "cnf_xml": {"enum": [None, ""]},
                },
            },
        ],
        "examples": [
            {
                "user_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11",
                "name": "Ada at the front desk",
                "cnf_xml": "<device><deviceProtocol>SCCP</deviceProtocol></device>",
                "compatible_models": ["CP-7945G"],
            }
        ],
    }

    @classmethod
    def missing(cls, given: Mapping[str, object]) -> list[Problem]:
        has_one = given.get("cnf_xml") or given.get("template")
        return [] if has_one else [Problem("cnf_xml", "is required")]

    def problems(self) -> list[Problem]:
        problems = _not_both(self.cnf_xml, self.template)
        if not self.cnf_xml and not self.template:
            problems.append(Problem("cnf_xml", "is required"))
        if self.values is not None and not self.template:
            problems.append(Problem("values", "is not allowed without `template`"))
        return problems


class ProfilePatch(Command, frozen=True, kw_only=True):
    """Changes to a profile."""

    user_uuid: Owner | UnsetType = UNSET
    name: ProfileName | UnsetType = UNSET
    cnf_xml: CnfXml | UnsetType | None = UNSET
    description: Notes | UnsetType | None = UNSET
    compatible_models: Models | UnsetType = UNSET
    software_type: FirmwareFamily | UnsetType | None = UNSET
    revision: CurrentRevision | UnsetType = UNSET
    template: ProfileTemplate | UnsetType | None = UNSET
    values: Values | UnsetType | None = UNSET

    @classmethod
    def missing(cls, given: Mapping[str, object]) -> list[Problem]:
        is_cleared = "template" not in given and given.get("cnf_xml", UNSET) in (None, "")
        return [Problem("cnf_xml", "must be text")] if is_cleared else []

    def problems(self) -> list[Problem]:
        problems = _not_both(self.cnf_xml or None, self.template or None)
        if self.cnf_xml is None and self.template is UNSET:
            problems.append(Problem("cnf_xml", "must be text"))
        if self.cnf_xml and self.values:
            problems.append(Problem("values", "is not allowed with `cnf_xml`"))
        return problems

    def content(self, before: Content) -> Content:
        """The content after the change. Raises ``Invalid`` if none is left."""
        if self.cnf_xml:
            return Content(self.cnf_xml)
        template = before.template if self.template is UNSET else self.template
        if template is None:
            if self.values:
                raise wrong("values", "is not allowed without `template`")
            if before.template is not None:
                raise wrong("cnf_xml", "must be text")
            return before
        values = before.values if before.template else {}
        return from_template(template, values if self.values is UNSET else self.values or {})


def _not_both(cnf_xml: object, template: object) -> list[Problem]:
    both = cnf_xml and template
    return [Problem("cnf_xml", "is not allowed with `template`")] if both else []


class SwitchRequest(Command, frozen=True, kw_only=True):
    """A request to deploy a profile to a phone."""

    profile_uuid: ProfileUuid
    mac: MacAddress


class PreviewRequest(SwitchRequest, frozen=True, kw_only=True):
    """A profile and a phone, and what is typed for the profile and not saved yet."""

    cnf_xml: Annotated[CnfXml, schema("A configuration in place of the stored one")] | None = None
    values: Annotated[Values, schema("Values in place of the stored ones")] | None = None

    @property
    def is_typed(self) -> bool:
        """Whether there is something that is not saved."""
        return self.cnf_xml is not None or self.values is not None


class Switched(Struct, frozen=True):
    """The result of a switch: the profile's name, the phone, and ``ok``, or why the phone was not
    restarted, or why that is not known."""

    profile: ProfileName
    mac: StoredMac
    restart: Annotated[str, schema("`ok`, or a message that says what failed", examples=["ok"])]
