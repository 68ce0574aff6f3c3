"""The contract kit over every database."""

import pytest

from phoneprov_adapters.testing.stores.database import DatabaseContract
from phoneprov_adapters.testing.stores.sequences import Opening
from support.stores import DATABASES


class TestDatabases(DatabaseContract):
    """Memory, SQLite and PostgreSQL."""

    @pytest.fixture(params=sorted(DATABASES))
    def opening(self, request: pytest.FixtureRequest) -> Opening:
        return DATABASES[request.param]
