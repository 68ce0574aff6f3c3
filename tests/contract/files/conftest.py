"""Import and export with the database of a test."""

from __future__ import annotations

import pytest

from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.stores import Database
from phoneprov_core.transfer.use_cases import Transfer
from phoneprov_core.users.passwords import AccountPolicy


@pytest.fixture
def transfer(database: Database) -> Transfer:
    return Transfer(
        database,
        PlainHasher(),
        AccountPolicy(is_common=lambda _: False),
        SharedWrite.SUPERADMIN,
        FixedClock(),
        CountingIds(),
        lambda open_: Profiles(open_, FixedClock(), CountingIds()),
    )
