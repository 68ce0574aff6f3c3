"""Which adapter implements which port, as the settings choose."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from dependency_injector import containers, providers
from dependency_injector.providers import Provider

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.lists import ManagerCalls, ManagerLines
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.composition.plugins import PHONE_DRIVERS, UPLOADERS, of, resource, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_adapters.phone.watch import RealReachability, WebWatch
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.runtime.tasks import (
    Comparing,
    OwnedTasks,
    log_deployment,
    log_login_failure,
    random_id,
    system_clock,
)
from phoneprov_adapters.security.credentials import Argon2Hasher, is_common, looks
from phoneprov_adapters.security.crypto import HmacPages, JwtTokens, KeyedTokens, SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.serving.uploader import ServedUploader
from phoneprov_adapters.sql.engines.address import check_address, embedded_file
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.revisions import Timelines
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.desks.model import PageSigner
from phoneprov_core.features.lines.model import ExchangeLines
from phoneprov_core.features.lines.use_cases import CompareLines
from phoneprov_core.features.serving.model import FetchObserver
from phoneprov_core.features.templates.recipes import Rendering
from phoneprov_core.features.templates.use_cases import Renderer
from phoneprov_core.kernel.actor import LevelRule, SharedWrite
from phoneprov_core.kernel.ports import Clock, NewId, Pause
from phoneprov_core.people.auth.model import LoginJournal, Tokens
from phoneprov_core.people.users.model import AccountPolicy
from phoneprov_core.switching.deployments.confirm import Watch
from phoneprov_core.switching.deployments.observation import PhoneInformation, Reachability
from phoneprov_core.switching.deployments.ports import Journal
from phoneprov_core.switching.devices.commands import CiscoPhones, NeverRestarting, RestartBy
from phoneprov_core.switching.devices.ports import (
    ConfigUploader,
    ManagerInterface,
    PhoneCommands,
    PhoneDriver,
)

T = TypeVar("T")


OwnDatabase: TypeAlias = SqliteDatabase | PostgresDatabase


def database_at(
    url: str, box: SecretBox, data_dir: Path | None = None, clock: Clock | None = None
) -> OwnDatabase:
    """The database of this URL, not yet open. The timeline of a shared one is stored in
    ``data_dir`` (see ``Timelines``), ``clock`` is the clock of the audit trail, by
    default the system's. Raises ``ValueError``."""
    check_address(url)
    file = embedded_file(url)
    if file is not None:
        return SqliteDatabase(file, box, clock)
    timelines = Timelines(data_dir and data_dir / "timelines.json")
    return PostgresDatabase(url, box, timelines=timelines, clock=clock)


def database_of(settings: Settings, box: SecretBox, clock: Clock | None = None) -> OwnDatabase:
    """The database, not yet open."""
    return database_at(settings.database_url, box, settings.data_dir, clock)


def hasher_of(settings: Settings, keys: SecretKeys) -> Iterator[Argon2Hasher]:
    """The hasher, until it is closed."""
    hasher = Argon2Hasher(keys, workers=settings.hash_threads)
    yield hasher
    hasher.close()


def uploader_of(settings: Settings, database: Database) -> ConfigUploader:
    """The uploader. Raises ``SettingsError``."""
    if settings.uploader == "served":
        return ServedUploader(database)
    if settings.uploader not in UPLOADERS.built_in:
        uploader: ConfigUploader = UPLOADERS.make(settings.uploader, settings)
        return uploader
    try:
        return FtpUploader(settings.ftp, settings.phone_networks)
    except OSError:
        raise SettingsError(
            "PHONEPROV_FTP_TLS_CA names a file without readable certificates."
        ) from None


def opened_uploader(settings: Settings, database: Database) -> Iterator[ConfigUploader]:
    """The uploader, until it is closed. Raises ``SettingsError``."""
    uploader = uploader_of(settings, database)
    yield uploader
    if isinstance(uploader, FtpUploader):
        uploader.close()


class Journals(NamedTuple):
    """What records deployments, refused logins at phones, and requests of phones for files."""

    deployment: Journal = log_deployment
    pin_failure: LoginJournal = log_login_failure
    fetch: FetchObserver | None = None


def journals_of(settings: Settings) -> Journals:
    """The journals, which log and, with metrics, count."""
    if not settings.has_metrics:
        return Journals()
    from phoneprov_adapters import metrics  # noqa: PLC0415 - slow to load

    return Journals(metrics.journal_deployment, metrics.journal_pin_failure, metrics.count_fetch)


def journal_of(journals: Journals) -> Journal:
    """What records deployments."""
    return journals.deployment


def connection_of(settings: Settings) -> ManagerConnection | None:
    """The connection to Asterisk's manager interface, None if it is not configured. Raises
    ``SettingsError``."""
    try:
        return ManagerConnection(settings.manager) if settings.manager else None
    except ValueError as error:
        raise SettingsError(f"PHONEPROV_AMI_TLS_CA: {error}") from None


def over(connection: ManagerConnection | None, make: Callable[[ManagerConnection], T]) -> T | None:
    """What is made of the connection; None if no manager interface is configured."""
    return make(connection) if connection else None


def compare_lines_of(
    settings: Settings, database: Database, exchange: ExchangeLines | None, clock: Clock
) -> CompareLines | None:
    """Compares lines; None unless Asterisk asks for them and shows them."""
    if exchange is None or not settings.serves_lines:
        return None
    return CompareLines(database, exchange, clock)


def phone_driver_of(
    settings: Settings,
    commands: PhoneCommands | None = None,
    manager: ManagerInterface | None = None,
) -> PhoneDriver:
    """The phone driver. Raises ``SettingsError``."""
    if settings.phone_driver in PHONE_DRIVERS.built_in:
        return cisco_phones(settings, commands, manager)
    driver: PhoneDriver = PHONE_DRIVERS.make(settings.phone_driver, settings)
    return NeverRestarting(driver) if settings.restart is RestartBy.NONE else driver


def cisco_phones(
    settings: Settings,
    commands: PhoneCommands | None = None,
    manager: ManagerInterface | None = None,
) -> CiscoPhones:
    """The driver of Cisco phones, to which a driver of another make can pass its Cisco phones.
    Arguments that are None are created from the settings."""
    return CiscoPhones(
        settings.restart,
        commands or PhoneWeb(settings.phone_web, settings.phone_networks),
        manager or over(connection_of(settings), Manager),
        settings.restart_type,
    )


def watch_of(
    settings: Settings, information: PhoneInformation, connection: ManagerConnection | None
) -> Watch:
    """By the events of Asterisk if phones are restarted through it, and over the phones' own web
    servers."""
    by_exchange = settings.restart in {RestartBy.AUTO, RestartBy.AMI}
    events = ManagerEvents(connection) if connection and by_exchange else None
    web = WebWatch(information, settings.phone_networks)
    return Watch(events, web, seconds=settings.confirm_timeout)


class Adapters(containers.DeclarativeContainer):
    """Pass it ``settings`` and ``keys``; override an adapter before the first object is
    resolved."""

    settings: Provider[Settings] = providers.Dependency(instance_of=Settings)
    keys: Provider[SecretKeys] = providers.Dependency(instance_of=SecretKeys)

    level_rule = singleton(LevelRule, of(settings, lambda it: it.level_rule))
    shared_write: Provider[SharedWrite] = singleton(
        SharedWrite, of(settings, lambda it: it.shared_write)
    )

    clock: Provider[Clock] = providers.Object(system_clock)
    new_id: Provider[NewId] = providers.Object(random_id)
    pause: Provider[Pause] = providers.Object(asyncio.sleep)
    tasks = singleton(OwnedTasks)

    box = singleton(SecretBox, keys=of(keys))
    database: Provider[OwnDatabase] = singleton(
        database_of, settings=of(settings), box=of(box), clock=of(clock)
    )
    hasher = resource(hasher_of, settings=of(settings), keys=of(keys))
    tokens: Provider[Tokens] = singleton(JwtTokens, keys=of(keys))
    token_secrets = singleton(KeyedTokens, keys=of(keys))
    signer: Provider[PageSigner] = singleton(HmacPages, keys=of(keys))
    policy = singleton(
        AccountPolicy,
        is_common=is_common,
        looks=looks,
        shortest=of(settings, lambda it: it.password_min),
        longest=of(settings, lambda it: it.password_max),
    )

    uploader = resource(opened_uploader, settings=of(settings), database=of(database))
    phone_commands = singleton(
        PhoneWeb,
        settings=of(settings, lambda it: it.phone_web),
        networks=of(settings, lambda it: it.phone_networks),
    )
    ami: Provider[ManagerConnection | None] = singleton(connection_of, settings=of(settings))
    manager: Provider[ManagerInterface | None] = singleton(over, connection=of(ami), make=Manager)
    calls: Provider[ManagerCalls | None] = singleton(over, connection=of(ami), make=ManagerCalls)
    exchange_lines: Provider[ExchangeLines | None] = singleton(
        over, connection=of(ami), make=ManagerLines
    )
    compare_lines = singleton(
        compare_lines_of,
        settings=of(settings),
        database=of(database),
        exchange=of(exchange_lines),
        clock=of(clock),
    )
    phone_driver: Provider[PhoneDriver] = singleton(
        phone_driver_of,
        settings=of(settings),
        commands=of(phone_commands),
        manager=of(manager),
    )
    watch = singleton(
        watch_of,
        settings=of(settings),
        information=of(phone_commands),
        connection=of(ami),
    )
    reachability: Provider[Reachability] = singleton(
        RealReachability, uploader=of(uploader), information=of(phone_commands)
    )
    journals = singleton(journals_of, settings=of(settings))
    journal = singleton(journal_of, journals=of(journals))
    compare = singleton(Comparing)
    renderer: Provider[Renderer] = singleton(JinjaRenderer)
    rendering = singleton(
        Rendering,
        renderer=of(renderer),
        base=of(settings, lambda it: it.phone_url),
        largest=of(settings, lambda it: it.cnf_xml_max),
    )


# What use cases are given, as arguments of ``singleton``.
database, hasher, policy = of(Adapters.database), of(Adapters.hasher), of(Adapters.policy)
clock, new_id, pause = of(Adapters.clock), of(Adapters.new_id), of(Adapters.pause)
tokens, signer, journal = of(Adapters.tokens), of(Adapters.signer), of(Adapters.journal)
driver, calls = of(Adapters.phone_driver), of(Adapters.calls)
background = of(Adapters.tasks, lambda it: it.start)
box, keys, renderer = of(Adapters.box), of(Adapters.keys), of(Adapters.renderer)


def setting(part: Callable[[Settings], T]) -> T:
    """A part of the settings as an argument of ``singleton``."""
    return of(Adapters.settings, part)


shared_write = of(Adapters.shared_write)
networks = setting(lambda it: it.phone_networks)
