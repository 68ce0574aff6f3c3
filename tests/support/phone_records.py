"""Phones, profiles and deployments for a database under test; larger numbers are created later."""

import hashlib
from typing import Any

from phoneprov_adapters.testing.phone_drivers import a_phone as a_phone  # noqa: PLC0414
from phoneprov_core.features.batches.model import Batch, BatchAction, BatchState, Counts
from phoneprov_core.features.serving.model import Fetch, FetchResult, Transport
from phoneprov_core.features.templates.model import Template, TemplateText
from phoneprov_core.inventory.locations import Location
from phoneprov_core.inventory.phone_parts import Kem, VendorPhoneRecord
from phoneprov_core.inventory.profiles.model import ProfileRecord, Revision
from phoneprov_core.switching.deployments.model import Action, Confirmation, Deployment, Outcome
from support.records import OWNER, a_mac, a_user, identifier, made


def a_profile(number: int, user_uuid: str = OWNER, **changes: Any) -> ProfileRecord:
    """A profile that fits every phone."""
    values = {"name": "Ada at the front desk", "compatible_models": ()}
    return made(ProfileRecord, number, changes, user_uuid=user_uuid, **values)


def a_location(number: int, **changes: Any) -> Location:
    """A location with a number and a place."""
    values = {"name": f"Berlin/{number}", "emergency_number": f"+4930{number:04}"}
    return made(Location, number, changes, **values, emergency_place=f"Floor {number}")


CNF_XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


def a_revision(
    number: int, profile: ProfileRecord, /, *, cnf_xml: str = CNF_XML, **changes: Any
) -> Revision:
    """The first revision of a profile."""
    content = cnf_xml.encode()
    return made(
        Revision,
        number,
        changes,
        profile_uuid=profile.uuid,
        number=1,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        created_at=profile.updated_at,
        created_by=profile.user_uuid,
    )


def a_template(number: int, **changes: Any) -> Template:
    """A variant for 7945 phones with SCCP firmware, of a name of its own."""
    return made(
        Template,
        number,
        changes,
        name=f"office {number}",
        model="7945",
        software_type="SCCP",
        body="<device><name>{{ phone.name }}</name></device>",
        revision=1,
    )


def a_template_text(key: int, template: Template, **changes: Any) -> TemplateText:
    """A text of a variant, by default its first one."""
    changes = {"created_by": a_user(900).uuid, "body": template.body, **changes}
    body = changes["body"]
    return TemplateText(
        uuid=identifier(key),
        template_uuid=template.uuid,
        number=changes.pop("number", 1),
        size=len(body.encode()),
        created_at=template.created_at,
        **changes,
    )


def a_deployment(number: int, mac: str, /, **changes: Any) -> Deployment:
    """A running deployment."""
    return made(
        Deployment,
        number,
        changes,
        mac=mac,
        number=number,
        action=Action.SWITCH,
        profile_uuid=identifier(800),
        profile_name="Ada at the front desk",
        revision=1,
        sha256="0" * 64,
        size=1,
        owner_uuid=identifier(901),
        user_uuid=identifier(900),
        filename="SEP001BD4000001.cnf.xml",
        outcome=Outcome.RUNNING,
        steps=(),
        confirmation=Confirmation.NONE,
    )


def a_kem(number: int, **changes: Any) -> Kem:
    """A KEM that is connected to no phone of the tests."""
    return made(
        Kem,
        number,
        changes,
        model="CP-7916",
        mac=a_mac(0xC00000 + number),
        ip="10.20.30.41",
        connected_phone=a_mac(0xD00000),
        software_type="SCCP",
    )


def a_flag(number: int, **changes: Any) -> VendorPhoneRecord:
    """The flag of the phone of the same number: a vendor phone."""
    return made(VendorPhoneRecord, number, changes, mac=a_mac(number), vendor=True)


def a_batch(number: int, **changes: Any) -> Batch:
    """A running batch without phones."""
    return made(
        Batch,
        number,
        changes,
        action=BatchAction.SWITCH,
        at_once=10,
        stop_after_failures=25,
        wait_minutes=60,
        user_uuid=identifier(900),
        state=BatchState.RUNNING,
        phones=Counts(),
    )


def a_fetch(number: int, **changes: Any) -> Fetch:
    """A request of phone 1 for its configuration."""
    return made(
        Fetch,
        number,
        changes,
        mac=a_mac(1),
        name="SEP001BD4000001.cnf.xml",
        transport=Transport.TFTP,
        client_ip="10.0.0.1",
        result=FetchResult.SERVED,
        bytes=2**40,
        duration_ms=17,
    )
