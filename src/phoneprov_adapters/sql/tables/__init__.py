"""The whole schema.

Shown moments are stored as the shown text, deadlines as milliseconds. A column ``x_key`` contains
the comparable form of column ``x``; ``x_sealed`` and ``x_key_id`` contain an encrypted secret and
the id of its key.
"""

from phoneprov_adapters.sql.tables.accounts import (
    assignments,
    audit,
    login_addresses,
    login_attempts,
    passwords,
    permissions,
    rates,
    sessions,
    username_looks,
    users,
)
from phoneprov_adapters.sql.tables.columns import metadata
from phoneprov_adapters.sql.tables.directory import (
    company_contacts,
    contact_terms,
    personal_contacts,
)
from phoneprov_adapters.sql.tables.inventory import (
    extensions,
    kems,
    phones,
    user_extensions,
    vendor_phones,
    vendor_users,
)
from phoneprov_adapters.sql.tables.provisioning import discovered_phones, fetches, served_files
from phoneprov_adapters.sql.tables.switching import (
    batch_phones,
    batches,
    current_deployments,
    deployments,
    desks,
    leases,
    profile_revisions,
    profiles,
)

__all__ = [
    "assignments",
    "audit",
    "batch_phones",
    "batches",
    "company_contacts",
    "contact_terms",
    "current_deployments",
    "deployments",
    "desks",
    "discovered_phones",
    "extensions",
    "fetches",
    "kems",
    "leases",
    "login_addresses",
    "login_attempts",
    "metadata",
    "passwords",
    "permissions",
    "personal_contacts",
    "phones",
    "profile_revisions",
    "profiles",
    "rates",
    "served_files",
    "sessions",
    "user_extensions",
    "username_looks",
    "users",
    "vendor_phones",
    "vendor_users",
]
