"""Reading of the settings from environment variables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from phoneprov_adapters.asterisk.settings import ManagerSettings
from phoneprov_adapters.composition.plugins import DATABASES, PHONE_DRIVERS, UPLOADERS
from phoneprov_adapters.composition.settings import HASH_THREADS, Settings
from phoneprov_adapters.composition.texts import (
    database_url,
    filename_template,
    folder,
    host,
    login_without_colon,
    networks,
    phone_url,
    port_or_none,
)
from phoneprov_adapters.composition.variables import SettingsError, Variables
from phoneprov_adapters.ftp.settings import FtpSettings, Tls
from phoneprov_adapters.phone.http import PhoneWebSettings
from phoneprov_adapters.runtime.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_adapters.security.threads import processors
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.auth.model import Lifetimes
from phoneprov_core.auth.throttle import GUESSES_PER_ADDRESS
from phoneprov_core.configuration.well_formed import LARGEST
from phoneprov_core.deployments.limits import PHONES_PER_CALLER, SWITCHES_PER_PHONE
from phoneprov_core.desks.model import DeskPolicy, Elsewhere
from phoneprov_core.devices.binding import Binding
from phoneprov_core.devices.commands import RestartType
from phoneprov_core.devices.names import DEFAULT_FILENAME_TEMPLATE
from phoneprov_core.devices.restart import RestartBy
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.profiles.use_cases import MOST_PROFILES, MOST_REVISIONS
from phoneprov_core.retention import KeepDays

_SCHEMES: Mapping[str, Literal["http", "https"]] = {"http": "http", "https": "https"}


_TLS: Mapping[str, Tls] = {"off": "off", "explicit": "explicit", "implicit": "implicit"}


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of these environment variables. An empty variable counts as unset.

    A secret may come from a file instead: ``PHONEPROV_X_FILE`` names it. Raises
    ``SettingsError``.
    """
    return settings_from(Variables(environment))


def settings_from(read: Variables) -> Settings:
    """Like ``read_settings``; ``read.readings()`` are the values in force. Raises
    ``SettingsError``."""
    data_dir = Path(read.text("PHONEPROV_DATA_DIR", "./phoneprov-data"))
    embedded = f"sqlite+aiosqlite:///{data_dir / 'phoneprov.db'}"
    settings = Settings(
        data_dir=data_dir,
        database_url=read.one("PHONEPROV_DATABASE_URL", embedded, database_url, secret=True),
        secret_keys=read.secret("PHONEPROV_SECRET_KEYS"),
        public_register=read.truth("PUBLIC_REGISTER", default=False),
        level_rule=read.choice("PHONEPROV_LEVEL_RULE", LevelRule.HIERARCHICAL),
        shared_write=read.choice("PHONEPROV_SHARED_WRITE", SharedWrite.SUPERADMIN),
        lifetimes=Lifetimes(
            access=read.number("PHONEPROV_ACCESS_TTL", 15 * 60, least=1),
            refresh_idle=read.number("PHONEPROV_REFRESH_TTL", 14 * 24 * 3600, least=1),
            session=read.number("PHONEPROV_SESSION_TTL", 90 * 24 * 3600, least=1),
            reuse_grace=read.number("PHONEPROV_REFRESH_GRACE", 0),
        ),
        shortest_password=read.number("PHONEPROV_PASSWORD_MIN", 8, least=8),
        longest_password=read.number("PHONEPROV_PASSWORD_MAX", 256, least=64),
        # Each takes 19 MiB while it works.
        hash_threads=read.number(HASH_THREADS, processors(), least=1),
        guesses_per_address=read.number("PHONEPROV_GUESSES_PER_ADDRESS", GUESSES_PER_ADDRESS),
        switches_per_phone=read.number("PHONEPROV_SWITCHES_PER_PHONE", SWITCHES_PER_PHONE),
        phones_per_caller=read.number("PHONEPROV_PHONES_PER_CALLER", PHONES_PER_CALLER),
        most_profiles=read.number("PHONEPROV_MOST_PROFILES", MOST_PROFILES),
        most_revisions=read.number("PHONEPROV_MOST_REVISIONS", MOST_REVISIONS),
        keep=KeepDays(
            deployments=read.number("PHONEPROV_KEEP_DEPLOYMENTS", 365),
            fetches=read.number("PHONEPROV_KEEP_FETCHES", 30),
            audit=read.number("PHONEPROV_KEEP_AUDIT", 365),
            revisions=read.number("PHONEPROV_KEEP_REVISIONS", 365),
        ),
        metrics_token=read.secret("PHONEPROV_METRICS_TOKEN"),
        metrics_host=read.one("PHONEPROV_METRICS_HOST", "127.0.0.1", host),
        metrics_port=read.one("PHONEPROV_METRICS_PORT", "", port_or_none),
        largest_xml=read.number("PHONEPROV_CNF_XML_MAX", LARGEST, least=1024),
        largest_body=read.number("PHONEPROV_BODY_MAX", 1024 * 1024, least=1024),
        ftp=_ftp(read),
        filename_template=read.one(
            "PHONEPROV_FTP_FILENAME", DEFAULT_FILENAME_TEMPLATE, filename_template
        ),
        phone_networks=read.one("PHONEPROV_PHONE_NETWORKS", PRIVATE_RANGES, PhoneNetworks.parse),
        phone_web=PhoneWebSettings(
            scheme=read.literal("PHONEPROV_PHONE_SCHEME", _SCHEMES),
            port=read.port("PHONEPROV_PHONE_HTTP_PORT", 80),
            user=read.one("PHONEPROV_PHONE_USER", "", login_without_colon),
            password=read.secret("PHONEPROV_PHONE_PASSWORD") or "",
        ),
        restart=read.choice("PHONEPROV_RESTART", RestartBy.AUTO),
        restart_type=read.choice("PHONEPROV_RESTART_TYPE", RestartType.RESTART),
        manager=_manager(read),
        confirm_seconds=read.number("PHONEPROV_CONFIRM_TIMEOUT", 120),
        trusted_proxies=read.one("PHONEPROV_TRUSTED_PROXIES", "", networks),
        uploader=read.one("PHONEPROV_UPLOADER", "ftp", UPLOADERS.known),
        files_dir=read.one("PHONEPROV_FILES_DIR", "", folder),
        fetch_binding=read.choice("PHONEPROV_FETCH_BINDING", Binding.ADDRESS),
        phone_services=read.literal("PHONEPROV_PHONE_SERVICES", {"on": True, "off": False}),
        phone_url=read.one("PHONEPROV_PHONE_URL", "", phone_url),
        desks=DeskPolicy(
            hours=read.number("PHONEPROV_DESK_HOURS", 0),
            elsewhere=read.choice("PHONEPROV_DESK_ELSEWHERE", Elsewhere.MOVE),
            binding=read.choice("PHONEPROV_PHONE_BINDING", Binding.ADDRESS),
            clear_calls=read.truth("PHONEPROV_CLEAR_CALL_HISTORY", default=True),
        ),
        phone_driver=read.one("PHONEPROV_PHONE_DRIVER", "cisco", PHONE_DRIVERS.known),
        console=read.literal("PHONEPROV_CONSOLE", {"on": True, "off": False}),
        variables=read,
    )
    check_together(settings, read)
    return settings


def check_together(settings: Settings, read: Variables) -> None:
    """Refuse valid settings that contradict each other. Raises ``SettingsError``."""
    if settings.restart is RestartBy.AMI and settings.manager is None:
        raise SettingsError("PHONEPROV_RESTART is ami, but PHONEPROV_AMI_HOST is not set.")
    if settings.shortest_password > settings.longest_password:
        raise SettingsError(
            f"PHONEPROV_PASSWORD_MIN ({settings.shortest_password}) is more than "
            f"PHONEPROV_PASSWORD_MAX ({settings.longest_password})."
        )
    if read.is_set("PHONEPROV_CNF_XML_MAX") and settings.largest_xml > settings.largest_body:
        raise SettingsError(
            f"PHONEPROV_CNF_XML_MAX ({settings.largest_xml}) is more than PHONEPROV_BODY_MAX "
            f"({settings.largest_body}): no request could carry such a configuration."
        )
    lifetimes = settings.lifetimes
    for name, seconds in (
        ("PHONEPROV_ACCESS_TTL", lifetimes.access),
        ("PHONEPROV_REFRESH_TTL", lifetimes.refresh_idle),
        ("PHONEPROV_REFRESH_GRACE", lifetimes.reuse_grace),
    ):
        # A default that is longer than the session ends with it.
        if read.is_set(name) and seconds > lifetimes.session:
            raise SettingsError(
                f"{name} ({seconds}) is more than PHONEPROV_SESSION_TTL ({lifetimes.session})."
            )


def check_names(settings: Settings) -> None:
    """Refuse misspelled names, which commands and the server do before they start. An adapter
    of another package may read names of its own later: beside one, only names that are similar
    to ours are refused. Raises ``SettingsError``."""
    ours = (
        settings.uploader in UPLOADERS.built_in
        and settings.phone_driver in PHONE_DRIVERS.built_in
        and settings.database_scheme in DATABASES.built_in
    )
    for name, near in settings.variables.unknown().items():
        if near is not None:
            raise SettingsError(f"{name} is not a setting. Did you mean {near}?")
        if ours:
            raise SettingsError(
                f"{name} is not a setting; unset it. phoneprov settings lists all settings."
            )


def _ftp(read: Variables) -> FtpSettings:
    return FtpSettings(
        host=read.one("PHONEPROV_FTP_HOST", "", host) or None,
        port=read.port("PHONEPROV_FTP_PORT", 21),
        user=read.text("PHONEPROV_FTP_USER", "anonymous"),
        password=read.secret("PHONEPROV_FTP_PASSWORD") or "",
        tls=read.literal("PHONEPROV_FTP_TLS", _TLS),
        tls_ca=read.text("PHONEPROV_FTP_TLS_CA", "") or None,
        directory=read.text("PHONEPROV_FTP_DIRECTORY", ""),
        timeout=read.seconds("PHONEPROV_FTP_TIMEOUT", 5.0, most=FTP_TOTAL),
        total=FTP_TOTAL,
    )


FTP_TOTAL = 15.0
"""Seconds for a whole upload. Together with the first request to the phone (1), the clearing of the
session (5) and the restart (8) a switch ends within 30 seconds."""


def _manager(read: Variables) -> ManagerSettings | None:
    named = read.one("PHONEPROV_AMI_HOST", "", host)
    tls = read.truth("PHONEPROV_AMI_TLS", default=False)
    manager = ManagerSettings(
        host=named or "localhost",
        port=read.port("PHONEPROV_AMI_PORT", 5039 if tls else 5038),
        tls=tls,
        tls_ca=read.text("PHONEPROV_AMI_TLS_CA", "") or None,
        user=read.text("PHONEPROV_AMI_USER", ""),
        secret=read.secret("PHONEPROV_AMI_SECRET") or "",
    )
    return manager if named else None
