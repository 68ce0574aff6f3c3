"""Records for a database under test; larger numbers are created later."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.auth.model import Session
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.extensions import Extension
from phoneprov_core.kernel.system import shown
from phoneprov_core.links import Link
from phoneprov_core.users.model import User
from phoneprov_core.vendor_users import VendorUser

_START = datetime(2026, 1, 31, tzinfo=UTC)


def moment(number: int) -> str:
    """A shown moment, later for a larger number."""
    return shown(_START + timedelta(seconds=number))


def identifier(number: int) -> str:
    """A UUID made of a number."""
    return f"00000000-0000-4000-8000-{number:012x}"


def a_mac(number: int) -> str:
    """A MAC made of a number."""
    return ":".join(f"{octet:02X}" for octet in (0, 0x1B, 0xD4, *number.to_bytes(3, "big")))


OWNER = identifier(900)
"""The user that owns records."""


def a_user(number: int, **changes: Any) -> User:
    """A user; larger numbers are created later."""
    user = User(
        uuid=identifier(number),
        first_name="Ada",
        last_name="Lovelace",
        username=f"ada-{number}",
        email=f"ada-{number}@example.com",
        phone=None,
        lang="en",
        location=None,
        nationality="British",
        timezone="Europe/London",
        is_active=True,
        last_uuid=None,
        last_login_ip=None,
        last_logout_ip=None,
        last_login_at=None,
        created_at=moment(number),
        updated_at=moment(number),
        created_by=None,
        created_ip="10.0.0.1",
        updated_ip="10.0.0.1",
    )
    return msgspec.structs.replace(user, **changes)


def a_permission(number: int, **changes: Any) -> Permission:
    """A permission at the level of its number."""
    permission = Permission(identifier(number), number, f"level {number}", None, moment(number))
    return msgspec.structs.replace(permission, **changes)


def an_assignment(user_uuid: str, perm_uuid: str, number: int = 1) -> Assignment:
    """An assignment whose level and name are wrong, since they are not stored."""
    return Assignment(identifier(number), user_uuid, perm_uuid, 999, "wrong", moment(number))


def an_extension(number: int, **changes: Any) -> Extension:
    """An extension without voicemail."""
    extension = Extension(
        uuid=identifier(number),
        type="chan_sccp",
        extension=f"10{number:02}",
        name=f"Desk {number}",
        password=f"secret-{number}",
        description=None,
        voicemail=False,
        voicemail_passcode=None,
        is_active=True,
        created_at=moment(number),
        created_by=None,
        updated_at=moment(number),
        updated_by=None,
        created_ip="10.0.0.1",
        updated_ip="10.0.0.1",
    )
    return msgspec.structs.replace(extension, **changes)


def a_link(number: int, user_uuid: str, extension_uuid: str, **changes: Any) -> Link:
    """A link between a user and an extension."""
    link = Link(identifier(number), user_uuid, extension_uuid, moment(number))
    return msgspec.structs.replace(link, **changes)


def a_session(number: int, user_uuid: str, **changes: Any) -> Session:
    """A session that began at 1000, expires at 5000 and ends at 9000; its current token is
    ``t1``."""
    session = Session(
        uuid=identifier(number),
        user_uuid=user_uuid,
        token_id="t1",  # nosec B106
        created_at=1000,
        expires_at=5000,
        ends_at=9000,
    )
    return msgspec.structs.replace(session, **changes)


def a_pin(number: int, user_uuid: str, **changes: Any) -> VendorUser:
    """A hash of a PIN."""
    pin = VendorUser(identifier(number), user_uuid, f"hash-{number}", moment(number))
    return msgspec.structs.replace(pin, **changes)


def a_company_contact(number: int, **changes: Any) -> CompanyContact:
    """An active contact of the company."""
    contact = CompanyContact(
        uuid=identifier(number),
        name="Grace Hopper",
        work="+1 202 555 0143",
        mobile=None,
        home=None,
        email="grace@example.com",
        ringtone=None,
        department="Compilers",
        company=None,
        location=None,
        building="B",
        is_active=True,
        created_at=moment(number),
    )
    return msgspec.structs.replace(contact, **changes)


def a_personal_contact(number: int, user_uuid: str = OWNER, **changes: Any) -> PersonalContact:
    """A personal contact."""
    contact = PersonalContact(
        uuid=identifier(number),
        user_uuid=user_uuid,
        name="Grace Hopper",
        work=None,
        mobile="0150 1234",
        home=None,
        email=None,
        ringtone="Chirp1",
        created_at=moment(number),
    )
    return msgspec.structs.replace(contact, **changes)
