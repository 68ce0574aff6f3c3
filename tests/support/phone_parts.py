"""Records of what hangs on phones, to put into a database."""

from __future__ import annotations

from typing import Any

import msgspec

from phoneprov_core.kems.model import Kem
from phoneprov_core.vendor_phones.model import VendorPhoneRecord
from phoneprov_core.vendor_services.model import VendorService
from support.stores import a_mac, identifier, moment


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


def a_service(number: int, **changes: Any) -> VendorService:
    """A service."""
    service = VendorService(
        uuid=identifier(number),
        name="Company directory",
        url="http://pbx/menu.xml",
        type=None,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(service, **changes)
