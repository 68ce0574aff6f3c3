"""A phone with what other records say of it."""

from typing import Annotated

from phoneprov_core.kems import Kem
from phoneprov_core.kernel.commands import record_of
from phoneprov_core.kernel.fields import schema
from phoneprov_core.phones.model import Phone, PhoneFacts
from phoneprov_core.vendor_phones import VendorPhone


class EnrichedPhone(PhoneFacts, frozen=True):
    """A phone with its vendor flag (null if there is none) and its KEMs, oldest first."""

    is_vendor: Annotated[
        bool, schema("Whether the phone is flagged as a vendor phone", examples=[True])
    ]
    vendor: Annotated[VendorPhone | None, schema("Vendor flag; null without one")]
    key_expansion_modules: Annotated[
        tuple[Kem, ...], schema("Key expansion modules connected to the phone, oldest first")
    ]


def enriched(phone: Phone, vendor: VendorPhone | None, kems: tuple[Kem, ...]) -> EnrichedPhone:
    """The phone with its flag, if any, and its KEMs."""
    return record_of(
        EnrichedPhone,
        phone,
        is_vendor=vendor is not None and vendor.vendor,
        vendor=vendor,
        key_expansion_modules=kems,
    )
