"""Templates and their variants, and the names and filters of their language."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, UnsetType

from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.phones.model import Family, bare_model
from phoneprov_core.inventory.profiles.model import LONGEST_VALUE, TemplateName, TemplateRevision
from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.errors import Conflict, InUse, Problem
from phoneprov_core.kernel.fields import (
    SECRET,
    Check,
    CreatedAt,
    Notes,
    OptionalLine,
    RecordUuid,
    Redacted,
    UpdatedAt,
    Uuid,
    schema,
    within,
)
from phoneprov_core.kernel.values import Timestamp

Fields = Mapping[str, str]
"""Names of fields, each with what it holds."""

OBJECTS: Mapping[str, Fields] = {
    "phone": {
        "mac": "MAC address with `:`, `00:1B:D4:12:34:56`",
        "hex": "MAC address as 12 upper-case hexadecimal digits, as in the name of the device",
        "name": "name of the phone",
        "model": "model as recorded, `CP-7945G`",
        "location": "location",
        "ip": "address of the phone",
        "vlan": "VLAN",
        "software_type": "firmware family; that of the profile if the phone has none",
    },
    "user": {
        "username": "username of the owner of the profile",
        "first_name": "first name",
        "last_name": "last name",
        "email": "e-mail address",
        "lang": "language tag",
        "timezone": "IANA time zone",
    },
    "urls": {
        "authentication": "address that phones ask whether a command is authorised",
        "services": "address of the menu of services",
        "directory": "address of the directories",
    },
}
"""Objects. A field that is not recorded is an empty text."""

LISTS: Mapping[str, Fields] = {
    "lines": {
        "number": "extension number",
        "name": "name of the extension",
        "password": "password of the extension; a secret",
        "voicemail": "`true` if the extension has voicemail",
        "type": "`chan_sccp`, `chan_sip`, `chan_pjsip` or `custom`",
    },
    "modules": {"model": "model of the expansion module", "ip": "address of the module"},
    "services": {
        "name": "name of the service",
        "url": "address of the service",
        "type": "kind of the service",
    },
}
"""Lists that `for` runs over: the active extensions of the user, oldest link first; the expansion
modules of the phone; the services of the menu. Both of these are oldest first."""

EMPTY = "empty"
"""The name of the template for the phones of people who left."""

VALUES = "values"
"""The object of the texts of the profile; its fields have names of the author's choice."""

LOOP: Fields = {
    "index": "number of the element, from 1",
    "index0": "number of the element, from 0",
    "first": "`true` for the first element",
    "last": "`true` for the last element",
    "length": "number of elements",
}
"""The fields of `loop`, inside a `for`."""

FILTERS: Fields = {
    "default": "`default(text)`: the text, if the name is not given or empty",
    "upper": "in upper case",
    "lower": "in lower case",
    "replace": "`replace(old, new)`: each `old` replaced by `new`",
    "truncate": "`truncate(length, killwords=False, end='...')`: cut to about this length",
    "int": "`int(default=0)`: the whole number that a text is, else the default",
    "join": "`join(between='', attribute)`: the fields of a list in one text",
    "length": "number of characters, or of elements",
    "first": "first element of a list",
    "last": "last element of a list",
}

DEEPEST_LOOP = 2
"""Maximum depth of `for` in `for`."""
MOST_NODES = 20_000
"""Maximum number of elements of the syntax tree."""
DEEPEST_NODE = 50
"""Maximum depth of the syntax tree."""
LONGEST_TEXT = 4 * LONGEST_VALUE
"""Maximum number of characters of a text that a template makes."""
MOST_WORK = 1_000_000
"""Maximum cost of a rendering: each pass of a loop costs the elements in its body, each text that
is made its characters."""
MOST_ELEMENTS = 1000
"""Maximum number of elements of a given list."""

VariantModel = Annotated[
    OptionalLine,
    Check(lambda model: bare_model(values.line(model)) or None),
    schema(
        "Model of the phones that this variant is for, in its bare form; null for all others",
        examples=["7945"],
    ),
]
VariantFamily = Annotated[
    Family, Check(lambda family: family or None), schema("Firmware family; null for all")
]
Body = Annotated[
    str,
    SECRET,
    schema(
        "Text of the template: a configuration with names in `{{ }}`",
        examples=["<device><name>{{ phone.name }}</name></device>"],
    ),
]
Shared = Annotated[
    bool,
    schema(
        "Whether users without level 0 make profiles of the template, and so read what it gives "
        "for them; all variants of a name must be shared",
        examples=[False],
    ),
]


class Template(Redacted, frozen=True):
    """A variant of a template: the text for one model and firmware family, or for all others."""

    uuid: RecordUuid
    name: TemplateName
    description: Notes | None
    model: VariantModel | None
    software_type: VariantFamily | None
    body: Body
    revision: TemplateRevision
    created_at: CreatedAt
    updated_at: UpdatedAt
    shared: Shared = False

    @property
    def label(self) -> str:
        """The variant in messages: ``office (7945, SCCP)``."""
        kinds = ", ".join(kind for kind in (self.model, self.software_type) if kind)
        return f"{self.name} ({kinds})" if kinds else self.name


class CreateTemplate(Command, frozen=True, kw_only=True):
    """A variant to be created."""

    name: TemplateName
    body: Body
    description: Notes | None = None
    model: VariantModel | None = None
    software_type: VariantFamily | None = None
    shared: Shared = False


class TemplatePatch(Command, frozen=True, kw_only=True):
    """Changes to a variant."""

    name: TemplateName | UnsetType = UNSET
    body: Body | UnsetType = UNSET
    description: Notes | UnsetType | None = UNSET
    model: VariantModel | UnsetType | None = UNSET
    software_type: VariantFamily | UnsetType | None = UNSET
    shared: Shared | UnsetType = UNSET
    revision: (
        Annotated[int, within(1, 2**31 - 1, "Number of the current text; 409 if it is another one")]
        | UnsetType
    ) = UNSET


class TemplateText(Redacted, frozen=True, kw_only=True):
    """The text of a variant from one change to the next; a list leaves out the text itself."""

    uuid: RecordUuid
    template_uuid: Annotated[Uuid, schema("The variant")]
    number: TemplateRevision
    size: Annotated[int, schema("Size of the text in bytes", minimum=0, examples=[2310])]
    created_at: Annotated[Timestamp, schema("Time when it was saved")]
    created_by: Annotated[Uuid, schema("Account that saved it; all zeros for the command line")]
    body: Annotated[str, SECRET, schema("The text; null in a list")] | None = None


class PlanText(Command, frozen=True, kw_only=True):
    """The text of a variant for which phones are compared."""

    body: Annotated[Body, schema("A text in place of the stored one")] | None = None


class WantedTemplates(QueryCommand, frozen=True, kw_only=True):
    """Which templates a list shows."""

    name: Annotated[OptionalLine, schema("Only the variants of this name")] | None = None


class WantedText(QueryCommand, frozen=True, kw_only=True):
    """Which text of a variant is read."""

    number: (
        Annotated[
            int, within(1, 2**31 - 1, "Number of a revision; the newest if absent", examples=[2])
        ]
        | None
    ) = None


class CheckTemplate(Command, frozen=True, kw_only=True):
    """A text to check."""

    body: Body


class TemplateCheck(Redacted, frozen=True):
    """The result of a check."""

    findings: Annotated[tuple[Finding, ...], schema("Findings in the order of their positions")]


def is_shared(variants: Iterable[Template]) -> bool:
    """Whether users without level 0 make profiles of a template with these variants."""
    return all(one.shared for one in variants)


class TemplateInUse(InUse):
    """Profiles use the template, and this is its last variant."""

    usual = "12 profiles use the template office, and this is its last variant."


class TemplateChanged(Conflict):
    """The variant's revision is not the revision that the change is based on."""

    code = "changed_meanwhile"
    usual = "This template has revision 3, not 2: it was changed meanwhile. Read it again."
    usual_problems = (Problem("revision", "must be 3, the newest"),)


_BRACE = re.compile(r"\{(?=[{%#$\ufeff]|(?i:mac)\}|\Z)|(?<=[$#])\{")
_MACS: Mapping[str, Callable[[str], str]] = {
    "phone.hex": str,
    "phone.mac": lambda mac: ":".join(re.findall("..", mac)),
    "phone.hex|lower": str.lower,
    "phone.mac|lower": lambda mac: ":".join(re.findall("..", mac.lower())),
}
"""How the MAC of a phone may be written."""


def as_mac(texts: Sequence[str], macs: Sequence[str]) -> str | None:
    """The text with the MAC of the phone, if each has its own at the same place."""
    for name, written in _MACS.items():
        if macs[0] and written(macs[0]) in texts[0] and all(macs):
            around = {tuple(one.split(written(mac))) for one, mac in zip(texts, macs, strict=True)}
            if len(around) == 1 and len(parts := around.pop()) == 2:
                return f"{as_literal(parts[0])}{{{{ {name} }}}}{as_literal(parts[1])}"
    return None


def as_literal(text: str) -> str:
    """A text as it is written in a template. An editor may remove a byte order mark."""
    return _BRACE.sub("{{ '{' }}", text).replace("\ufeff", r"{{ '\ufeff' }}")
