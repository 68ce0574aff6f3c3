"""Records that generated requests name."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.batches.ports import BatchItem
from phoneprov_core.inventory.phone_parts import Kem, VendorPhoneRecord
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Event
from support.kinds import KINDS, a_right, a_token, an_identity
from support.phone_records import (
    CNF_XML,
    a_batch,
    a_deployment,
    a_phone,
    a_profile,
    a_revision,
)
from support.records import (
    a_company_contact,
    a_link,
    a_mac,
    a_permission,
    a_personal_contact,
    a_pin,
    a_user,
    an_extension,
    identifier,
    moment,
)

COUNT = 40


class Records(NamedTuple):
    """The first number of each kind of record."""

    of_paths: Mapping[str, int]
    in_bodies: Mapping[str, str]

    def of(self, path: str, name: str, claim: int) -> str:
        """The identifier of an existing record for a path or a field of a body."""
        if name in {"mac", "connected_phone"}:
            return a_mac(claim % COUNT)
        kind = {"userUuid": "/users", "extUuid": "/extensions"}.get(name, path)
        (begin,) = [begin for prefix, begin in self.of_paths.items() if prefix in kind]
        return identifier(begin + claim % COUNT)


_NAMED = {
    "users", "permissions", "phones", "profiles", "company_contacts", "personal_contacts", "kems",
    "vendor_phones", "extensions", "api_tokens", "identities", "rights",
}  # fmt: skip
_PATHS = {"templates": "configuration_templates"}
OTHERS = [kind for kind in KINDS if kind.name not in _NAMED]
"""Kinds that need no other record, with paths of the same name or of ``_PATHS``."""

RECORDS = Records(
    {
        "/users": 1000,
        "/extensions": 2000,
        "/permissions": 3000,
        "/user-extensions/": 4000,
        "/phone-profiles/": 5000,
        "/company-directory": 6000,
        "/personal-directory/contact": 7000,
        "/vendor-kem": 8000,
        "/me/tokens": 9000,
        "/me/identities": 80_000,
        "/me/sessions": 90_000,  # none of them exists: those of the fuzz would end
        "/deployments": 10_000,
        "/batches": 11_000,
        **{
            f"/{_PATHS.get(kind.name, kind.name).replace('_', '-')}": 20_000 + 1000 * place
            for place, kind in enumerate(OTHERS)
        },
    },
    {
        "user_uuid": "/users",
        "perm_uuid": "/permissions",
        "extension_uuid": "/extensions",
        "profile_uuid": "/phone-profiles/",
        "deployment_uuid": "/deployments",
        "mac": "",
        "connected_phone": "",
    },
)


async def fill(database: Database) -> None:
    """Add ``COUNT`` records of each kind to an empty database."""
    now: dict[str, Any] = {"created_at": moment(1)}
    changed: dict[str, Any] = {**now, "updated_at": moment(1)}
    async with database.write(by=SYSTEM_ACTOR) as tx:
        # Moments are kept from the first entry on.
        tx.trail.note(Event("database.restored", "database"))
    for n in range(COUNT):
        user, extension = identifier(1000 + n), identifier(2000 + n)
        async with database.write() as tx:
            await tx.users.add(a_user(1000 + n, **changed))
            await tx.extensions.add(an_extension(2000 + n, extension=f"1{n:03}", **changed))
            await tx.permissions.add(a_permission(3000 + n, **now))
            await tx.links.add(a_link(4000 + n, user, extension, **now))
            profile = a_profile(5000 + n, user, **changed)
            await tx.profiles.add(profile)
            await tx.revisions.add(a_revision(5000 + n, profile), CNF_XML)
            deployment = a_deployment(10_000 + n, a_mac(n), profile_uuid=profile.uuid, **now)
            await tx.deployments.add(deployment)
            await tx.batches.add(a_batch(11_000 + n, created_at=moment(1), ended_at=moment(1)))
            phone = BatchItem(identifier(11_000 + n), 1, a_mac(n), identifier(12_000 + n))
            await tx.batches.add_phones([phone])
            await tx.company_contacts.add(a_company_contact(6000 + n, **now))
            await tx.personal_contacts.add(a_personal_contact(7000 + n, user, **now))
            await tx.api_tokens.add(a_token(9000 + n, user, **now))
            await tx.identities.add(an_identity(80_000 + n, user, **now))
            await tx.rights.add(a_right(1000 + n, **changed))
            kem = identifier(8000 + n)
            await tx.kems.add(Kem(kem, None, None, None, a_mac(n), None, "SIP", moment(1)))
            await tx.vendor_users.save(a_pin(1000 + n, user, **now))
            await tx.phones.add(a_phone(n, **changed))
            await tx.vendor_phones.save(VendorPhoneRecord(a_mac(n), True, moment(1)))
            for place, kind in enumerate(OTHERS):
                await kind.store(tx).add(kind.make(20_000 + 1000 * place + n))
