"""The field types of commands and entities. Each is a plain ``str`` or ``int``; its rule is checked
when a command is created, and its metadata describes it in the OpenAPI document."""

from typing import Annotated, Any

from msgspec import Meta

from phoneprov_core.kernel import addresses, values
from phoneprov_core.kernel.field_types import RULE, SECRET, Check
from phoneprov_core.kernel.system import Timestamp, uuid


def schema(description: str = "", /, **keywords: Any) -> Meta:
    """A description, and JSON schema keywords, which the rule of the field enforces."""
    described = {"description": description} if description else {}
    return Meta(extra_json_schema={**described, **keywords})


def within(least: int, most: int, description: str = "", /, **keywords: Any) -> Meta:
    """The bounds of a whole number: a rule, which the description of the field states too."""
    bounds = {"minimum": least, "maximum": most}
    described = {"description": description} if description else {}
    return Meta(
        extra_json_schema={**described, **bounds, **keywords},
        extra={RULE: values.from_to(least, most)},
    )


# Control characters are not valid in a line of text; the pattern documents this.
_ANY_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
_UNSEEN = rf"\x00-\x1f\x7f-\x9f{values.HIDDEN}"
_LINE = rf"^[^{_UNSEEN}]*$"
_LINE_NOT_BLANK = rf"^[^{_UNSEEN}]*[^\s{_UNSEEN}][^{_UNSEEN}]*$"

MAC = (
    r"^(?!0[0:.-]*$)[0-9A-Fa-f][02468ACEace](?:[0-9A-Fa-f]{10}|(?::[0-9A-Fa-f]{2}){5}"
    r"|(?:-[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f]{4}){2})$"
)
"""A MAC in any spelling, as a pattern; neither all-zero nor broadcast nor multicast."""

_URL = (
    rf"^[Hh][Tt][Tt][Pp][Ss]?://(?:[^\s/?#\[\]{_UNSEEN}]*@)?"
    rf"(?:[^\s/?#@:\[\]{_UNSEEN}]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{0,5}})?"
    rf"(?:[/?#][^\s{_UNSEEN}]*)?$"
)

Line = Annotated[
    str, Check(values.required_text), schema(minLength=1, maxLength=255, pattern=_LINE_NOT_BLANK)
]
OptionalLine = Annotated[str, Check(values.line), schema(maxLength=255, pattern=_LINE)]
AnyLine = Annotated[str, Check(values.text), schema(maxLength=255, pattern=_ANY_LINE)]
Description = Annotated[
    str,
    Check(values.description),
    schema(maxLength=2048, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"),
]
Email = Annotated[
    str,
    Check(values.email),
    schema(maxLength=255, pattern=values.EMAIL, examples=["ada@example.com"]),
]
Language = Annotated[
    str,
    Check(values.language),
    schema("BCP 47 language tag", maxLength=255, pattern=values.LANGUAGE, examples=["en"]),
]
Timezone = Annotated[
    str,
    Check(values.timezone),
    schema(
        "IANA name of a time zone",
        pattern=r"^[A-Za-z0-9+_-]+(?:/[A-Za-z0-9+_-]+)*$",
        examples=["UTC"],
    ),
]
ServiceUrl = Annotated[
    str,
    Check(values.service_url),
    schema(
        "Address with http or https, or a URI that phones execute (`Application:`, `Dial:`, "
        "`Init:`, `Key:`, `SoftKey:`, `tel:` and others). The service never requests it",
        maxLength=2048,
        pattern=f"{_URL}|{values.PHONE_URL}",
        examples=["http://pbx/menu.xml"],
    ),
]
MacAddress = Annotated[
    str,
    Check(addresses.mac),
    schema(
        "MAC address: 12 hexadecimal digits, separated by `:`, `-` or dots, or not separated",
        pattern=MAC,
        examples=["00:1B:D4:12:34:56"],
    ),
]
IpAddress = Annotated[
    str, Check(addresses.ip), schema("IPv4 or IPv6 address", maxLength=45, examples=["10.20.30.40"])
]
Uuid = Annotated[str, Check(uuid), schema(format="uuid")]
PinCode = Annotated[
    str,
    SECRET,
    Check(values.pin_code),
    schema(
        "4 to 32 digits, not one digit repeated, digits in order, or a number of the user. Only a "
        "hash is stored",
        pattern=values.PIN,
        examples=["2468"],
    ),
]
SoftwareType = Annotated[OptionalLine, schema("Firmware family; free text", examples=["SCCP"])]
Location = Annotated[OptionalLine, schema("Location", examples=["Berlin, third floor"])]
ExtensionNumber = Annotated[
    str,
    Check(values.extension_number),
    schema(
        "Extension number; unique",
        minLength=1,
        maxLength=255,
        pattern=values.NUMBER,
        examples=["1001"],
    ),
]
Moment = Annotated[
    str, Check(values.moment), schema(format="date-time", examples=["2026-01-31T08:15:30.250Z"])
]
Level = Annotated[int, within(0, 2**31 - 1)]

# What the fields of several records are.
RecordUuid = Annotated[Uuid, schema("Identifier, given by the service")]
UserUuid = Annotated[Uuid, schema("UUID of the user")]
CreatedAt = Annotated[Timestamp, schema("Time of creation")]
UpdatedAt = Annotated[Timestamp, schema("Time of the last change")]
EndedAt = Annotated[Timestamp, schema("Time of the end; null while it runs")]
CreatedIp = Annotated[str, schema("Client address of the creation", examples=["10.20.0.7"])]
UpdatedIp = Annotated[str, schema("Client address of the last change", examples=["10.20.0.7"])]
CreatedBy = Annotated[Uuid, schema("Account that created the record")]
UpdatedBy = Annotated[Uuid, schema("Account that last changed the record; null until then")]
StoredMac = Annotated[str, schema("MAC address in canonical form", examples=["00:1B:D4:12:34:56"])]
Notes = Annotated[
    Description, schema("Notes; line breaks are allowed", examples=["The desk by the window"])
]
DurationMs = Annotated[int, schema("Duration in milliseconds", minimum=0, examples=[120])]
Size = Annotated[int, schema("Size in bytes", minimum=0, examples=[2048])]
