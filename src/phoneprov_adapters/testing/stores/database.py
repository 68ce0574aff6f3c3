"""The contract of a database: every store, every transaction, every race."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.kinds import KINDS, Kind, add
from phoneprov_adapters.testing.stores.assignments import AssignmentsContract
from phoneprov_adapters.testing.stores.attempts import LoginAttemptsContract
from phoneprov_adapters.testing.stores.audit import AuditContract
from phoneprov_adapters.testing.stores.batch_turns import BatchTurnsContract
from phoneprov_adapters.testing.stores.batches import BatchesContract
from phoneprov_adapters.testing.stores.deployment_lists import DeploymentListsContract
from phoneprov_adapters.testing.stores.deployments import DeploymentsContract, LeasesContract
from phoneprov_adapters.testing.stores.desks import DesksContract
from phoneprov_adapters.testing.stores.directory import DirectoryContract
from phoneprov_adapters.testing.stores.phone_lists import PhoneSearchContract, StatisticsContract
from phoneprov_adapters.testing.stores.phones import (
    EnrichedPhonesContract,
    KemsContract,
    VendorPhonesContract,
)
from phoneprov_adapters.testing.stores.pins_and_links import LinksContract, VendorUsersContract
from phoneprov_adapters.testing.stores.provisioning import ProvisioningContract
from phoneprov_adapters.testing.stores.retention import RetentionContract
from phoneprov_adapters.testing.stores.revisions import RevisionsContract
from phoneprov_adapters.testing.stores.rules import RulesContract
from phoneprov_adapters.testing.stores.search import SearchContract
from phoneprov_adapters.testing.stores.sequences import Opening, SequencesContract
from phoneprov_adapters.testing.stores.sessions import SessionsContract
from phoneprov_adapters.testing.stores.store import OwnedRowsContract, RowsContract, StoreContract
from phoneprov_adapters.testing.stores.throttle import LoginAddressesContract, RatesContract
from phoneprov_adapters.testing.stores.trail import TrailContract
from phoneprov_adapters.testing.stores.transactions import TransactionsContract
from phoneprov_adapters.testing.stores.users import UsersContract
from phoneprov_core.stores import Database


class DatabaseContract:
    """Subclass it, name it ``Test...``, and give it the fixture ``opening``: a function that takes
    a folder and returns an asynchronous context manager, which opens an empty ``Database`` and
    closes it. A test may call it several times."""

    @pytest.fixture
    def opening(self) -> Opening:
        """Opens a database; override it."""
        raise NotImplementedError("give your subclass of DatabaseContract a fixture 'opening'")

    @pytest_asyncio.fixture
    async def database(self, opening: Opening, tmp_path: Path) -> AsyncIterator[Database]:
        """An open, empty database."""
        async with opening(tmp_path) as opened:
            yield opened

    @pytest_asyncio.fixture(params=KINDS, ids=repr)
    async def kind(self, request: pytest.FixtureRequest, database: Database) -> Kind:
        """A kind of record; the records that it refers to exist."""
        kind: Kind = request.param
        await add(database, *kind.others)
        return kind

    TestStore = StoreContract
    TestRows = RowsContract
    TestOwnedRows = OwnedRowsContract
    TestSearch = SearchContract
    TestPhoneSearch = PhoneSearchContract
    TestRules = RulesContract
    TestTransactions = TransactionsContract
    TestSequences = SequencesContract
    TestAudit = AuditContract
    TestTrail = TrailContract
    TestUsers = UsersContract
    TestAssignments = AssignmentsContract
    TestSessions = SessionsContract
    TestLoginAttempts = LoginAttemptsContract
    TestLoginAddresses = LoginAddressesContract
    TestRates = RatesContract
    TestLinks = LinksContract
    TestKems = KemsContract
    TestVendorPhones = VendorPhonesContract
    TestEnrichedPhones = EnrichedPhonesContract
    TestVendorUsers = VendorUsersContract
    TestDirectory = DirectoryContract
    TestDeployments = DeploymentsContract
    TestLeases = LeasesContract
    TestProvisioning = ProvisioningContract
    TestDesks = DesksContract
    TestBatches = BatchesContract
    TestBatchTurns = BatchTurnsContract
    TestDeploymentLists = DeploymentListsContract
    TestRetention = RetentionContract
    TestStatistics = StatisticsContract
    TestRevisions = RevisionsContract
