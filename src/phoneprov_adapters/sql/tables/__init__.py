"""The whole schema.

Shown moments are stored as the shown text, deadlines as milliseconds. A column ``x_key`` contains
the comparable form of column ``x``; ``x_sealed`` and ``x_key_id`` contain an encrypted secret and
the id of its key.
"""

from phoneprov_adapters.sql.tables.accounts import (
    assignments as assignments,
    audit as audit,
    login_addresses as login_addresses,
    login_attempts as login_attempts,
    passwords as passwords,
    permissions as permissions,
    rates as rates,
    sessions as sessions,
    username_looks as username_looks,
    users as users,
)
from phoneprov_adapters.sql.tables.columns import metadata as metadata
from phoneprov_adapters.sql.tables.directory import (
    company_contacts as company_contacts,
    contact_terms as contact_terms,
    personal_contacts as personal_contacts,
)
from phoneprov_adapters.sql.tables.inventory import (
    extensions as extensions,
    kems as kems,
    phones as phones,
    user_extensions as user_extensions,
    vendor_phones as vendor_phones,
    vendor_users as vendor_users,
)
from phoneprov_adapters.sql.tables.provisioning import (
    discovered_phones as discovered_phones,
    fetches as fetches,
    served_files as served_files,
)
from phoneprov_adapters.sql.tables.switching import (
    batch_phones as batch_phones,
    batches as batches,
    current_deployments as current_deployments,
    deployments as deployments,
    desks as desks,
    leases as leases,
    profile_revisions as profile_revisions,
    profiles as profiles,
)
