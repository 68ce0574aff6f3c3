"""The contract of a database: every store, every transaction, every race."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.kinds import KINDS, Kind
from phoneprov_adapters.testing.stores.assignments import AssignmentsContract
from phoneprov_adapters.testing.stores.attempts import LoginAttemptsContract
from phoneprov_adapters.testing.stores.audit import AuditContract
from phoneprov_adapters.testing.stores.batch_turns import BatchTurnsContract
from phoneprov_adapters.testing.stores.batches import BatchesContract
from phoneprov_adapters.testing.stores.contact_search import ContactSearchContract
from phoneprov_adapters.testing.stores.deployment_lists import DeploymentListsContract
from phoneprov_adapters.testing.stores.deployment_retention import DeploymentRetentionContract
from phoneprov_adapters.testing.stores.deployments import DeploymentsContract
from phoneprov_adapters.testing.stores.desks import DesksContract
from phoneprov_adapters.testing.stores.directory import DirectoryContract
from phoneprov_adapters.testing.stores.enriched_phones import EnrichedPhonesContract
from phoneprov_adapters.testing.stores.kems import KemsContract
from phoneprov_adapters.testing.stores.leases import LeasesContract
from phoneprov_adapters.testing.stores.links import LinksContract
from phoneprov_adapters.testing.stores.login_addresses import LoginAddressesContract
from phoneprov_adapters.testing.stores.phone_search import PhoneSearchContract
from phoneprov_adapters.testing.stores.provisioning import ProvisioningContract
from phoneprov_adapters.testing.stores.rates import RatesContract
from phoneprov_adapters.testing.stores.retention import RetentionContract
from phoneprov_adapters.testing.stores.revisions import RevisionsContract
from phoneprov_adapters.testing.stores.rows import RowsContract
from phoneprov_adapters.testing.stores.rules import RulesContract
from phoneprov_adapters.testing.stores.search import SearchContract
from phoneprov_adapters.testing.stores.sequences import Opening, SequencesContract
from phoneprov_adapters.testing.stores.session_exchange import SessionExchangeContract
from phoneprov_adapters.testing.stores.sessions import SessionsContract
from phoneprov_adapters.testing.stores.statistics import StatisticsContract
from phoneprov_adapters.testing.stores.store import StoreContract
from phoneprov_adapters.testing.stores.trail import TrailContract
from phoneprov_adapters.testing.stores.transactions import TransactionsContract
from phoneprov_adapters.testing.stores.users import UsersContract
from phoneprov_adapters.testing.stores.vendor_phones import VendorPhonesContract
from phoneprov_adapters.testing.stores.vendor_users import VendorUsersContract
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
        async with database.write() as tx:
            await kind.prepare(tx)
        return kind

    class TestStore(StoreContract):
        """See ``StoreContract``."""

    class TestRows(RowsContract):
        """See ``RowsContract``."""

    class TestSearch(SearchContract):
        """See ``SearchContract``."""

    class TestPhoneSearch(PhoneSearchContract):
        """See ``PhoneSearchContract``."""

    class TestRules(RulesContract):
        """See ``RulesContract``."""

    class TestTransactions(TransactionsContract):
        """See ``TransactionsContract``."""

    class TestSequences(SequencesContract):
        """See ``SequencesContract``."""

    class TestAudit(AuditContract):
        """See ``AuditContract``."""

    class TestTrail(TrailContract):
        """See ``TrailContract``."""

    class TestUsers(UsersContract):
        """See ``UsersContract``."""

    class TestAssignments(AssignmentsContract):
        """See ``AssignmentsContract``."""

    class TestSessions(SessionsContract):
        """See ``SessionsContract``."""

    class TestSessionExchange(SessionExchangeContract):
        """See ``SessionExchangeContract``."""

    class TestLoginAttempts(LoginAttemptsContract):
        """See ``LoginAttemptsContract``."""

    class TestLoginAddresses(LoginAddressesContract):
        """See ``LoginAddressesContract``."""

    class TestRates(RatesContract):
        """See ``RatesContract``."""

    class TestLinks(LinksContract):
        """See ``LinksContract``."""

    class TestKems(KemsContract):
        """See ``KemsContract``."""

    class TestVendorPhones(VendorPhonesContract):
        """See ``VendorPhonesContract``."""

    class TestEnrichedPhones(EnrichedPhonesContract):
        """See ``EnrichedPhonesContract``."""

    class TestVendorUsers(VendorUsersContract):
        """See ``VendorUsersContract``."""

    class TestDirectory(DirectoryContract):
        """See ``DirectoryContract``."""

    class TestDeployments(DeploymentsContract):
        """See ``DeploymentsContract``."""

    class TestLeases(LeasesContract):
        """See ``LeasesContract``."""

    class TestProvisioning(ProvisioningContract):
        """See ``ProvisioningContract``."""

    class TestContactSearch(ContactSearchContract):
        """See ``ContactSearchContract``."""

    class TestDesks(DesksContract):
        """See ``DesksContract``."""

    class TestBatches(BatchesContract):
        """See ``BatchesContract``."""

    class TestBatchTurns(BatchTurnsContract):
        """See ``BatchTurnsContract``."""

    class TestDeploymentLists(DeploymentListsContract):
        """See ``DeploymentListsContract``."""

    class TestRetention(RetentionContract):
        """See ``RetentionContract``."""

    class TestDeploymentRetention(DeploymentRetentionContract):
        """See ``DeploymentRetentionContract``."""

    class TestStatistics(StatisticsContract):
        """See ``StatisticsContract``."""

    class TestRevisions(RevisionsContract):
        """See ``RevisionsContract``."""
