"""Import and export with the database of a test."""

import pytest

from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.inventory.extensions import Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.locations import Locations
from phoneprov_core.inventory.phone_parts import Kems
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import SharedWrite
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.users.model import AccountPolicy
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import VendorUsers


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
        locations=Locations(database, clock, new_id),
        company_directory=CompanyDirectory(database, shared, clock, new_id),
        personal_directory=PersonalDirectory(database, clock, new_id),
        pins=VendorUsers(database, PlainHasher(), clock, new_id),
        links=Links(database, clock, new_id),
        profile_use_cases=Profiles(database, clock, new_id),
        template_use_cases=Templates(database, JinjaRenderer(), clock, new_id),
        clock=clock,
    )
