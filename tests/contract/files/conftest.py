"""Import and export with the database of a test."""

import pytest

from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions import Extensions
from phoneprov_core.kems import Kems
from phoneprov_core.links import Links
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.templates.use_cases import Templates
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.passwords import AccountPolicy
from phoneprov_core.users.use_cases import Users
from phoneprov_core.vendor_users import VendorUsers


@pytest.fixture
def transfer(database: Database) -> Transfer:
    return transfer_over(database)


def transfer_over(database: Database) -> Transfer:
    """Import and export with this database."""
    clock, new_id, shared = FixedClock(), CountingIds(), SharedWrite.SUPERADMIN
    policy = AccountPolicy(is_common=lambda _: False)
    return Transfer(
        database=database,
        users=Users(database, PlainHasher(), policy, clock, new_id),
        extensions=Extensions(database, clock, new_id),
        phones=Phones(database, shared, clock),
        kems=Kems(database, shared, clock, new_id),
        company_directory=CompanyDirectory(database, shared, clock, new_id),
        personal_directory=PersonalDirectory(database, clock, new_id),
        pins=VendorUsers(database, PlainHasher(), clock, new_id),
        links=Links(database, clock, new_id),
        profile_use_cases=Profiles(database, clock, new_id),
        template_use_cases=Templates(database, JinjaRenderer(), clock, new_id),
    )
