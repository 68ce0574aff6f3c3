"""An office for tests of use cases: all of them, over the memory adapters."""

import asyncio

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.devices import (
    MemoryManager,
    MemoryPhone,
    MemoryReachability,
    MemoryUploader,
    MemoryWatch,
)
from phoneprov_adapters.memory.system import (
    CountingIds,
    FixedClock,
    MemoryBackground,
    PlainHasher,
    PlainTokens,
    await_directly,
)
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.security.crypto import KeyedTokens
from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.batches.run import RunBatches
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.batches.work import PhoneWork
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.templates.deployed import KeepTexts, RenderedTexts
from phoneprov_core.features.templates.recipes import Rendering
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.inventory.configuration.comparison import Compared, Comparison, compare
from phoneprov_core.inventory.extensions import Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.phone_parts import Kems, VendorPhones
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import EnrichedPhone, Phones
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor, LevelRule, SharedWrite
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.values import PRIVATE_RANGES, millis, timestamp
from phoneprov_core.people.access import Assignment, Permission
from phoneprov_core.people.audit import Audit
from phoneprov_core.people.auth.accounts import Register
from phoneprov_core.people.auth.login import Login
from phoneprov_core.people.auth.model import Credentials, Lifetimes, LoggedIn
from phoneprov_core.people.auth.sessions import Authenticate, Logout, Refresh
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.me import ApiTokens, Me, TokenSecrets
from phoneprov_core.people.permissions import Permissions, UserPermissions
from phoneprov_core.people.users.model import AccountPolicy, Registration
from phoneprov_core.people.users.use_cases import Users, created_user
from phoneprov_core.people.vendor_users import VendorUsers
from phoneprov_core.switching.deployments.confirm import Confirm, Watch
from phoneprov_core.switching.deployments.deploy import Deploy, SwitchProfile
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.order import SwitchLimits
from phoneprov_core.switching.deployments.preview import PreviewSwitch
from phoneprov_core.switching.deployments.records import Records
from phoneprov_core.switching.deployments.rollback import Rollback
from phoneprov_core.switching.deployments.use_cases import Deployments
from phoneprov_core.switching.devices.commands import CiscoPhones, RestartBy
from phoneprov_core.switching.devices.ports import Calls
from support.audited import AuditedDatabase
from support.keys import NEW_KEYS

PASSWORD = "correct horse battery"
COMMON = "password1"


class MemoryCalls(Calls):
    """The phones whose MACs are in ``talking`` are in a call; ``failure`` is raised if set.
    ``asked`` lists the MACs of the queries."""

    def __init__(self) -> None:
        self.talking: set[str] = set()
        self.failure: PhoneprovError | None = None
        self.asked: list[str] = []

    async def in_call(self, phone: Phone) -> bool:
        await asyncio.sleep(0)
        self.asked.append(phone.mac)
        if self.failure is not None:
            raise self.failure
        return phone.mac in self.talking


async def compare_directly(comparison: Comparison) -> Compared:
    """A ``Compare`` that blocks the event loop."""
    return compare(comparison)


class Settings(Struct, frozen=True):
    """The settings of an office."""

    level_rule: LevelRule = LevelRule.STRICT
    shared_write: SharedWrite = SharedWrite.SUPERADMIN
    public_register: bool = False
    lifetimes: Lifetimes = Lifetimes()
    restart: RestartBy = RestartBy.AUTO
    with_manager: bool = True
    with_watch: bool = False
    largest_xml: int = 512 * 1024
    guesses: int = 200
    limits: SwitchLimits = SwitchLimits()


class Office:
    """The use cases, their adapters, and accounts as callers."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = chosen = settings or Settings()
        self.clock = clock = FixedClock()
        self.new_id = new_id = CountingIds()
        self.database = database = AuditedDatabase(clock=lambda: millis(clock()))
        self.hasher = hasher = PlainHasher()
        self.tokens = tokens = PlainTokens()
        self.uploader = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES))
        self.phone = MemoryPhone()
        self.manager = MemoryManager()
        self.watch = MemoryWatch()
        self.reachability = MemoryReachability()
        self.background = MemoryBackground()
        self.journal: list[Deployment] = []
        policy = AccountPolicy(lambda password: password == COMMON)

        self.login = self.another_login()
        self.refresh = Refresh(database, tokens, chosen.lifetimes, clock, new_id)
        self.logout = Logout(database, tokens, clock)
        self.authenticate = self.authenticating(KeyedTokens(NEW_KEYS))
        self.audit = Audit(database, clock)
        self.api_tokens = ApiTokens(database, KeyedTokens(NEW_KEYS), clock, new_id)
        self.register = Register(
            database, hasher, policy, clock, new_id, public=chosen.public_register
        )
        self.me: Me[EnrichedPhone] = Me(database)
        self.users = Users(database, hasher, policy, clock, new_id)
        self.permissions = Permissions(database, clock, new_id)
        self.user_permissions = UserPermissions(database, clock, new_id)
        self.phones = Phones(database, chosen.shared_write, clock)
        self.profiles = Profiles(database, clock, new_id, largest_xml=chosen.largest_xml)
        self.templates = Templates(database, JinjaRenderer(), clock, new_id)
        self.extensions = Extensions(database, clock, new_id)
        self.links = Links(database, clock, new_id)
        self.kems = Kems(database, chosen.shared_write, clock, new_id)
        self.vendor_phones = VendorPhones(database, chosen.shared_write, clock)
        self.vendor_users = VendorUsers(database, hasher, clock, new_id)
        self.company_directory = CompanyDirectory(database, chosen.shared_write, clock, new_id)
        self.personal_directory = PersonalDirectory(database, clock, new_id)
        manager = self.manager if chosen.with_manager else None
        watch = Watch(None, self.watch if chosen.with_watch else None, seconds=120)
        self.driver = CiscoPhones(chosen.restart, self.phone, manager)
        self.occupancy = Occupancy(clock)
        records = Records(
            database,
            self.journal.append,
            clock,
            new_id,
            self.pause,
            participants=(KeepTexts(), self.occupancy),
            limits=chosen.limits,
        )
        self.deploy = Deploy(
            records,
            self.uploader,
            self.driver,
            Confirm(database, watch, self.background, self.journal.append, clock, self.pause),
            await_directly,
            RenderedTexts(Rendering(JinjaRenderer(), "", chosen.largest_xml)),
        )
        self.switch = SwitchProfile(database, self.deploy)
        self.rollback = Rollback(database, self.deploy)
        self.preview = PreviewSwitch(
            database, self.deploy, self.reachability, compare_directly, clock
        )
        self.deployments = Deployments(database, clock)
        self.calls = MemoryCalls()
        self.batch_journal: list[Batch] = []
        self.run_batches = self.another_runner()
        self.batches = Batches(database, self.run_batches, self.background, clock, new_id)

    async def pause(self, seconds: float) -> None:
        """Let other tasks run first, and advance the clock."""
        for _ in range(20):
            await asyncio.sleep(0)
        self.clock.advance(seconds)

    def another_runner(self) -> RunBatches:
        """A batch worker of another process of the same service. Waiting advances the clock."""

        work = PhoneWork(
            self.database,
            self.deploy,
            self.occupancy,
            self.driver,
            self.calls,
            await_directly,
            self.clock,
            self.new_id,
        )
        return RunBatches(
            self.database,
            work,
            await_directly,
            self.pause,
            self.batch_journal.append,
            self.clock,
            self.new_id,
        )

    def authenticating(self, secrets: TokenSecrets) -> Authenticate:
        """Authentication, by API tokens of these keys."""
        return Authenticate(
            self.database, self.tokens, secrets, self.settings.level_rule, self.clock
        )

    def another_login(self) -> Login:
        """The login of another process of the same service."""
        return Login(
            self.database,
            self.hasher,
            self.tokens,
            self.settings.lifetimes,
            self.clock,
            self.new_id,
            guesses=self.settings.guesses,
        )

    async def add_user(
        self, username: str, *, level: int | None = None, is_active: bool = True
    ) -> Actor:
        """An account with the password ``PASSWORD``, and its actor; with an assignment if a level
        is given."""
        self.clock.advance(1)
        now = timestamp(self.clock())
        new = Registration(
            first_name="Ada",
            last_name="Lovelace",
            username="ada",
            email="ada@example.com",
            password=PASSWORD,
        )
        user = msgspec.structs.replace(
            created_user(new, self.new_id(), now, "10.0.0.1", None),
            first_name=username.title(),
            username=username,
            email=f"{username}@example.com",
        )
        hash_ = await self.hasher.hash(PASSWORD)
        async with self.database.write() as tx:
            await tx.users.add(user)
            await tx.users.set_password_hash(user.uuid, hash_)
            if level is not None:
                permission = Permission(self.new_id(), level, f"of {username}", None, now)
                await tx.permissions.add(permission)
                await tx.assignments.assign(
                    Assignment(self.new_id(), user.uuid, permission.uuid, level, "", now)
                )
        if not is_active:
            await self.deactivate(user.uuid)
        return Actor(user.uuid, level, "10.9.8.7", level_rule=self.settings.level_rule)

    async def deactivate(self, user_uuid: str) -> None:
        """Deactivate the account in the store, without a use case."""
        async with self.database.write() as tx:
            user = await tx.users.find(user_uuid)
            assert user is not None
            await tx.users.put(msgspec.structs.replace(user, is_active=False))

    async def log_in(
        self, username: str = "ada", password: str = PASSWORD, ip: str = "10.1.2.3"
    ) -> LoggedIn:
        """Log in, by default from an address of the office."""
        return await self.login(Credentials(username=username, password=password), ip)

    async def actor_of(self, logged_in: LoggedIn) -> Actor:
        """The actor of a new access token."""
        return await self.authenticate(logged_in.tokens.access_token, "10.1.2.3")
