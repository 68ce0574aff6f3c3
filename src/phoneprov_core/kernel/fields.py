"""The field types that commands and entities are written with.

Each is a plain ``str`` or ``int`` to Python; the rule is checked when a command is made, and
the rest describes the field to people and to the OpenAPI document.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from phoneprov_core.kernel import values
from phoneprov_core.kernel.commands import Check


def schema(**keywords: Any) -> Meta:
    """JSON schema keywords that describe, without being enforced twice."""
    return Meta(extra_json_schema=keywords)


# Control characters have no place in a line of text; the pattern says so to clients.
_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
_LINE_NOT_BLANK = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"

Line = Annotated[
    str, Check(values.required_text), schema(minLength=1, maxLength=255, pattern=_LINE_NOT_BLANK)
]
OptionalLine = Annotated[str, Check(values.optional_text), schema(maxLength=255, pattern=_LINE)]
Description = Annotated[str, Check(values.description), schema(maxLength=2048)]
Email = Annotated[
    str,
    Check(values.email),
    schema(format="email", maxLength=255, examples=["ada@example.com"]),
]
Language = Annotated[
    str, Check(values.language), schema(description="A BCP 47 language tag", examples=["en"])
]
Timezone = Annotated[
    str, Check(values.timezone), schema(description="An IANA time zone", examples=["UTC"])
]
Url = Annotated[
    str,
    Check(values.url),
    schema(format="uri", pattern="^https?://", maxLength=2048, examples=["http://pbx/menu.xml"]),
]
MacAddress = Annotated[
    str,
    Check(values.mac),
    schema(
        description="12 hexadecimal digits, separated by : or - or dots or not at all",
        examples=["00:1B:D4:12:34:56"],
    ),
]
IpAddress = Annotated[
    str, Check(values.ip), schema(description="IPv4 or IPv6", examples=["10.20.30.40"])
]
Uuid = Annotated[str, Check(values.uuid), schema(format="uuid")]
PinCode = Annotated[str, Check(values.pin_code), schema(pattern="^[0-9]{4,32}$", examples=["2468"])]
ExtensionNumber = Annotated[
    str,
    Check(values.extension_number),
    schema(minLength=1, maxLength=255, pattern=r"^[0-9A-Za-z*#+._-]+$", examples=["1001"]),
]
Level = Annotated[int, Check(values.level), schema(minimum=0, maximum=2**31 - 1)]
