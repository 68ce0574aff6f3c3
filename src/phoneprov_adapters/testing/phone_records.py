"""Phones, profiles and deployments for a database under test; larger numbers are created later."""

import hashlib
from typing import Any

import msgspec

from phoneprov_adapters.testing.records import OWNER, a_mac, identifier, moment
from phoneprov_core.batches.model import Batch, BatchAction, BatchState, Counts
from phoneprov_core.deployments.model import Action, Confirmation, Deployment, Outcome
from phoneprov_core.kems import Kem
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import ProfileRecord, Revision
from phoneprov_core.provisioning.model import Fetch, FetchResult, Transport
from phoneprov_core.templates.model import Template
from phoneprov_core.vendor_phones import VendorPhoneRecord


def a_phone(number: int, **changes: Any) -> Phone:
    """An active phone of the inventory."""
    phone = Phone(
        mac=a_mac(number),
        brand="Cisco",
        model="CP-7945G",
        description=None,
        name=None,
        hostname=None,
        location=None,
        phone_ip="10.20.30.40",
        phone_vlan=None,
        software_version=None,
        software_type="SCCP",
        is_active=True,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(phone, **changes)


def a_profile(number: int, user_uuid: str = OWNER, **changes: Any) -> ProfileRecord:
    """A profile that fits every phone."""
    profile = ProfileRecord(
        uuid=identifier(number),
        user_uuid=user_uuid,
        name="Ada at the front desk",
        description=None,
        compatible_models=(),
        software_type=None,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(profile, **changes)


CNF_XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


def a_revision(
    number: int, profile: ProfileRecord, /, *, cnf_xml: str = CNF_XML, **changes: Any
) -> Revision:
    """The first revision of a profile."""
    content = cnf_xml.encode()
    revision = Revision(
        uuid=identifier(number),
        profile_uuid=profile.uuid,
        number=1,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        created_at=profile.updated_at,
        created_by=profile.user_uuid,
    )
    return msgspec.structs.replace(revision, **changes)


def a_template(number: int, **changes: Any) -> Template:
    """A variant for 7945 phones with SCCP firmware, of a name of its own."""
    template = Template(
        uuid=identifier(number),
        name=f"office {number}",
        description=None,
        model="7945",
        software_type="SCCP",
        body="<device><name>{{ phone.name }}</name></device>",
        revision=1,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(template, **changes)


def a_deployment(number: int, mac: str, /, **changes: Any) -> Deployment:
    """A running deployment."""
    deployment = Deployment(
        uuid=identifier(number),
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
        place=None,
        outcome=Outcome.RUNNING,
        failed_step=None,
        message=None,
        steps=(),
        restart=None,
        confirmation=Confirmation.NONE,
        confirmation_message=None,
        confirmation_by=None,
        confirmation_at=None,
        created_at=moment(number),
        ended_at=None,
    )
    return msgspec.structs.replace(deployment, **changes)


def a_kem(number: int, **changes: Any) -> Kem:
    """A KEM that is connected to no phone of the tests."""
    kem = Kem(
        uuid=identifier(number),
        model="CP-7916",
        mac=a_mac(0xC00000 + number),
        ip="10.20.30.41",
        connected_phone=a_mac(0xD00000),
        software_version=None,
        software_type="SCCP",
        created_at=moment(number),
    )
    return msgspec.structs.replace(kem, **changes)


def a_flag(number: int, **changes: Any) -> VendorPhoneRecord:
    """The flag of the phone of the same number: a vendor phone."""
    flag = VendorPhoneRecord(a_mac(number), True, moment(number))
    return msgspec.structs.replace(flag, **changes)


def a_batch(number: int, **changes: Any) -> Batch:
    """A running batch without phones; larger numbers are created later."""
    batch = Batch(
        uuid=identifier(number),
        action=BatchAction.SWITCH,
        profile_uuid=None,
        profile_name=None,
        revision=None,
        model=None,
        location=None,
        software_type=None,
        at_once=10,
        per_minute=None,
        stop_after_failures=25,
        wait_minutes=60,
        user_uuid=identifier(900),
        state=BatchState.RUNNING,
        message=None,
        created_at=moment(number),
        ended_at=None,
        phones=Counts(),
    )
    return msgspec.structs.replace(batch, **changes)


def a_fetch(number: int, **changes: Any) -> Fetch:
    """A request of phone 1 for its configuration."""
    fetch = Fetch(
        uuid=identifier(number),
        mac=a_mac(1),
        name="SEP001BD4000001.cnf.xml",
        transport=Transport.TFTP,
        client_ip="10.0.0.1",
        result=FetchResult.SERVED,
        bytes=2**40,
        duration_ms=17,
        created_at=moment(number),
    )
    return msgspec.structs.replace(fetch, **changes)
