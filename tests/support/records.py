"""Records for a database under test; larger numbers are created later."""

from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from phoneprov_adapters.testing.phone_drivers import (
    a_mac as a_mac,  # noqa: PLC0414
    moment as moment,  # noqa: PLC0414
)
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.links import Link
from phoneprov_core.people.access import Assignment, Permission
from phoneprov_core.people.auth.model import Session
from phoneprov_core.people.directory.model import CompanyContact, PersonalContact
from phoneprov_core.people.users.model import User
from phoneprov_core.people.vendor_users import VendorUser

R = TypeVar("R", bound=Struct)


def identifier(number: int) -> str:
    """A UUID made of a number."""
    return f"00000000-0000-4000-8000-{number:012x}"


OWNER = identifier(900)
"""The user that owns records."""


def made(kind: type[R], of: int, changes: dict[str, Any], /, **values: Any) -> R:
    """A record with its identifier and moments made of a number, with these values and changes.
    Other fields without a default are None."""
    at = moment(of)
    usual = {"uuid": identifier(of), "created_at": at, "updated_at": at}
    required = {field.name for field in fields(kind) if field.default is NODEFAULT}
    return kind(**{**{name: usual.get(name) for name in required}, **values, **changes})


def a_user(number: int, **changes: Any) -> User:
    """A user of a name of its own."""
    return made(
        User,
        number,
        changes,
        first_name="Ada",
        last_name="Lovelace",
        username=f"ada-{number}",
        email=f"ada-{number}@example.com",
        lang="en",
        nationality="British",
        timezone="Europe/London",
        is_active=True,
        created_ip="10.0.0.1",
        updated_ip="10.0.0.1",
    )


def a_permission(number: int, **changes: Any) -> Permission:
    """A permission at the level of its number."""
    return made(Permission, number, changes, level=number, name=f"level {number}")


def an_assignment(user_uuid: str, perm_uuid: str, number: int = 1) -> Assignment:
    """An assignment whose level and name are wrong, since they are not stored."""
    return Assignment(identifier(number), user_uuid, perm_uuid, 999, "wrong", moment(number))


def an_extension(number: int, **changes: Any) -> Extension:
    """An extension without voicemail."""
    return made(
        Extension,
        number,
        changes,
        type="chan_sccp",
        extension=f"10{number:02}",
        name=f"Desk {number}",
        password=f"secret-{number}",
        voicemail=False,
        is_active=True,
        created_ip="10.0.0.1",
        updated_ip="10.0.0.1",
    )


def a_link(number: int, user_uuid: str, extension_uuid: str, **changes: Any) -> Link:
    """A link between a user and an extension."""
    return made(Link, number, changes, user_uuid=user_uuid, extension_uuid=extension_uuid)


def a_session(number: int, user_uuid: str, **changes: Any) -> Session:
    """A session that began at 1000, expires at 5000 and ends at 9000; its current token is
    ``t1``."""
    times = {"created_at": 1000, "expires_at": 5000, "ends_at": 9000}
    return made(Session, number, changes, user_uuid=user_uuid, token_id="t1", **times)


def a_pin(number: int, user_uuid: str, **changes: Any) -> VendorUser:
    """A hash of a PIN."""
    return made(VendorUser, number, changes, user_uuid=user_uuid, pin_code=f"hash-{number}")


def a_company_contact(number: int, **changes: Any) -> CompanyContact:
    """An active contact of the company."""
    return made(
        CompanyContact,
        number,
        changes,
        name="Grace Hopper",
        work="+1 202 555 0143",
        email="grace@example.com",
        department="Compilers",
        building="B",
        is_active=True,
    )


def a_personal_contact(number: int, user_uuid: str = OWNER, **changes: Any) -> PersonalContact:
    """A personal contact."""
    return made(
        PersonalContact,
        number,
        changes,
        user_uuid=user_uuid,
        name="Grace Hopper",
        mobile="0150 1234",
        ringtone="Chirp1",
    )
