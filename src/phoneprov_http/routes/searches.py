"""Query parameters that search lists. Each function is a dependency of one list."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar.di import Provide
from litestar.params import QueryParameter

from phoneprov_core.directory.search import ContactSearch
from phoneprov_core.extensions.search import ExtensionSearch
from phoneprov_core.kernel.ids import UUID
from phoneprov_core.kernel.search import MOST_WORDS
from phoneprov_core.phones.search import LastOutcome, PhoneSearch
from phoneprov_core.profiles.search import ProfileSearch
from phoneprov_core.users.search import UserSearch
from phoneprov_http.routes.parameters import LINE

_LINE: dict[str, Any] = {"maxLength": 255, "pattern": LINE}
Words = Annotated[
    str | None,
    QueryParameter(
        name="q",
        description=(
            "Words that a row contains, in any of its identifying fields, as parts of longer words "
            f"too, at most {MOST_WORDS}. Case and accents are ignored; MAC addresses and telephone "
            "numbers are found in any notation"
        ),
        schema_extra=_LINE,
    ),
]
Only = Annotated[
    str | None,
    QueryParameter(description="Only rows with exactly this value", schema_extra=_LINE),
]
OnlyLastOutcome = Annotated[
    LastOutcome | None,
    QueryParameter(
        description=(
            "Only phones whose newest deployment has this outcome; `none`: phones without a "
            "deployment. Needs level 0"
        )
    ),
]
OnlyUser = Annotated[
    str | None,
    QueryParameter(
        description=(
            "Only phones at which this user is logged in; another user than the caller needs level "
            "0"
        ),
        pattern=UUID,
        schema_extra={"format": "uuid"},
    ),
]
OnlyType = Annotated[
    Literal["chan_sccp", "chan_sip", "chan_pjsip", "custom"] | None,
    QueryParameter(name="type", description="Only extensions of this type"),
]
OnlyFamily = Annotated[
    Literal["SCCP", "SIP", "SIPE"] | None,
    QueryParameter(description="Only profiles for this firmware family"),
]
OnlyOwner = Annotated[
    str | None,
    QueryParameter(
        description="Only profiles of this user", pattern=UUID, schema_extra={"format": "uuid"}
    ),
]
Truth = Annotated[
    Literal["true", "false"] | None,
    QueryParameter(
        description="Only rows with this value",
        schema_extra={"type": "boolean", "enum": [True, False]},
    ),
]


def _truth(value: str | None) -> bool | None:
    return None if value is None else value == "true"


def phone_search(
    words: Words = None,
    brand: Only = None,
    model: Only = None,
    location: Only = None,
    phone_vlan: Only = None,
    software_version: Only = None,
    software_type: Only = None,
    is_active: Truth = None,
    last_outcome: OnlyLastOutcome = None,
    user_uuid: OnlyUser = None,
) -> PhoneSearch:
    """Searched: name, hostname, IP address, MAC address."""
    return PhoneSearch(
        q=words,
        brand=brand,
        model=model,
        location=location,
        phone_vlan=phone_vlan,
        software_version=software_version,
        software_type=software_type,
        is_active=_truth(is_active),
        last_outcome=last_outcome,
        user_uuid=user_uuid,
    )


def user_search(
    words: Words = None,
    lang: Only = None,
    location: Only = None,
    nationality: Only = None,
    timezone: Only = None,
    is_active: Truth = None,
) -> UserSearch:
    """Searched: first and last name, username, email, phone."""
    return UserSearch(
        q=words,
        lang=lang,
        location=location,
        nationality=nationality,
        timezone=timezone,
        is_active=_truth(is_active),
    )


def extension_search(
    words: Words = None,
    type_: OnlyType = None,
    voicemail: Truth = None,
    is_active: Truth = None,
) -> ExtensionSearch:
    """Searched: number and name."""
    return ExtensionSearch(
        q=words, type=type_, voicemail=_truth(voicemail), is_active=_truth(is_active)
    )


def contact_search(
    words: Words = None,
    department: Only = None,
    company: Only = None,
    location: Only = None,
    building: Only = None,
    is_active: Truth = None,
) -> ContactSearch:
    """Searched: name, numbers, email."""
    return ContactSearch(
        q=words,
        department=department,
        company=company,
        location=location,
        building=building,
        is_active=_truth(is_active),
    )


def profile_search(
    words: Words = None, user_uuid: OnlyOwner = None, software_type: OnlyFamily = None
) -> ProfileSearch:
    """Searched: name."""
    return ProfileSearch(q=words, user_uuid=user_uuid, software_type=software_type)


def searched(search: Any) -> dict[str, Provide]:
    """The dependency ``wanted`` of a list."""
    return {"wanted": Provide(search, sync_to_thread=False)}
