"""The adapters that the settings choose."""

from typing import NamedTuple

from phoneprov_adapters.asterisk.calls import ManagerCalls
from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.composition.plugins import DATABASES, PHONE_DRIVERS, UPLOADERS
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.provisioning.folder import Folder, NoFolder
from phoneprov_adapters.provisioning.uploader import ServedUploader
from phoneprov_adapters.runtime.journal import log_deployment, log_login_failure
from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.choice import database_at
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.maintenance.key_rotation import KeyRotation
from phoneprov_core.auth.ports import LoginJournal
from phoneprov_core.deployments.observation import PhoneInformation
from phoneprov_core.deployments.ports import Journal
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.devices.ports import (
    ConfigUploader,
    ManagerInterface,
    PhoneCommands,
    PhoneDriver,
)
from phoneprov_core.devices.restart import CiscoPhones, NeverRestarting, RestartBy
from phoneprov_core.provisioning.ports import FetchObserver, SharedFiles
from phoneprov_core.stores import Database


def database_of(settings: Settings, box: SecretBox) -> Database:
    """The database, not yet open. Raises ``SettingsError``."""
    scheme = settings.database_scheme
    if scheme in DATABASES.built_in:
        return database_at(settings.database_url, box, settings.data_dir)
    database: Database = DATABASES.make(scheme, settings, box)
    return database


def require_own_database(settings: Settings) -> None:
    """Raises ``SettingsError`` for a database of another package, which manages its schema and its
    keys itself."""
    if settings.database_scheme not in DATABASES.built_in:
        raise SettingsError(
            "PHONEPROV_DATABASE_URL names a database of another package, which manages its "
            "schema and its keys itself."
        )


def rotation_of(
    settings: Settings, database: Database, keys: SecretKeys, box: SecretBox
) -> KeyRotation:
    """The key rotation of the built-in databases. Raises ``SettingsError``."""
    require_own_database(settings)
    assert isinstance(database, SqliteDatabase | PostgresDatabase)
    return KeyRotation(database, keys, box)


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


def shared_files_of(settings: Settings) -> SharedFiles:
    """The folder of other files that phones fetch."""
    return Folder(settings.files_dir) if settings.files_dir else NoFolder()


class Journals(NamedTuple):
    """What records deployments, refused logins at phones, and requests of phones for files."""

    deployment: Journal = log_deployment
    pin_failure: LoginJournal = log_login_failure
    fetch: FetchObserver | None = None


def journals_of(settings: Settings) -> Journals:
    """The journals, which log and, with metrics, count."""
    if not settings.has_metrics:
        return Journals()
    from phoneprov_adapters.metrics import counters  # noqa: PLC0415 - slow to load

    return Journals(counters.journal_deployment, counters.journal_pin_failure, counters.count_fetch)


def connection_of(settings: Settings) -> ManagerConnection | None:
    """The connection to Asterisk's manager interface, None if it is not configured. Raises
    ``SettingsError``."""
    try:
        return ManagerConnection(settings.manager) if settings.manager else None
    except ValueError as error:
        raise SettingsError(f"PHONEPROV_AMI_TLS_CA: {error}") from None


def manager_of(connection: ManagerConnection | None) -> ManagerInterface | None:
    """Asterisk's manager interface, None if it is not configured."""
    return Manager(connection) if connection else None


def calls_of(connection: ManagerConnection | None) -> ManagerCalls | None:
    """Lists phones in a call; None if no manager interface is configured."""
    return ManagerCalls(connection) if connection else None


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
        manager or manager_of(connection_of(settings)),
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
    return Watch(events, web, seconds=settings.confirm_seconds)
