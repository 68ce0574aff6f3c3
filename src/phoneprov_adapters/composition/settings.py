"""The settings of a deployment, read from environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phoneprov_adapters.asterisk.connection import ManagerSettings
from phoneprov_adapters.composition.forms import Network
from phoneprov_adapters.composition.plugins import PHONE_DRIVERS, UPLOADERS
from phoneprov_adapters.composition.table import Table, declared
from phoneprov_adapters.composition.variables import (
    SettingsError as SettingsError,  # noqa: PLC0414
    Variables,
)
from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.phone.http import PhoneWebSettings
from phoneprov_core.features.desks.model import DeskPolicy
from phoneprov_core.features.identities.model import Passwords
from phoneprov_core.features.retention import KeepDays
from phoneprov_core.people.auth.model import Lifetimes
from phoneprov_core.switching.devices.commands import RestartBy
from phoneprov_core.switching.devices.names import config_filename, mac_in, plain_name


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings(Table):
    """All settings (see ``Table``), and the settings of each part of the service. ``variables``
    is their source, for adapters with settings of their own."""

    variables: Variables

    @property
    def lifetimes(self) -> Lifetimes:
        """Of tokens and sessions."""
        return Lifetimes(
            access=self.access_ttl,
            refresh_idle=self.refresh_ttl,
            session=self.session_ttl,
            reuse_grace=self.refresh_grace,
        )

    @property
    def refused_issuer(self) -> str:
        """The provider whose accounts have no login by password; empty for none."""
        return self.oidc_issuer if self.passwords is Passwords.UNLINKED else ""

    @property
    def keep(self) -> KeepDays:
        """How long records are kept."""
        return KeepDays(
            deployments=self.keep_deployments,
            fetches=self.keep_fetches,
            audit=self.keep_audit,
            revisions=self.keep_revisions,
        )

    @property
    def ftp(self) -> FtpSettings:
        """The FTP server."""
        return FtpSettings(
            host=self.ftp_host or None,
            port=self.ftp_port,
            user=self.ftp_user,
            password=self.ftp_password or "",
            tls=self.ftp_tls,
            tls_ca=self.ftp_tls_ca or None,
            directory=self.ftp_directory,
            timeout=self.ftp_timeout,
        )

    @property
    def phone_web(self) -> PhoneWebSettings:
        """The web servers of phones."""
        return PhoneWebSettings(
            scheme=self.phone_scheme,
            port=self.phone_http_port,
            user=self.phone_user,
            password=self.phone_password or "",
        )

    @property
    def manager(self) -> ManagerSettings | None:
        """Asterisk's manager interface, None if it is not configured."""
        if not self.ami_host:
            return None
        return ManagerSettings(
            host=self.ami_host,
            port=self.ami_port,
            tls=self.ami_tls,
            tls_ca=self.ami_tls_ca or None,
            user=self.ami_user,
            secret=self.ami_secret or "",
        )

    @property
    def desks(self) -> DeskPolicy:
        """Logins at phones."""
        return DeskPolicy(
            hours=self.desk_hours,
            elsewhere=self.desk_elsewhere,
            binding=self.phone_binding,
            clear_calls=self.clear_call_history,
        )

    @property
    def adopts(self) -> bool:
        """Whether users adopt phones at the phone."""
        return self.adopt and self.phone_services

    @property
    def serves_lines(self) -> bool:
        """Whether Asterisk asks for lines."""
        return self.asterisk_token is not None

    @property
    def speakers(self) -> tuple[Network, ...]:
        """Networks of clients that speak for many others: proxies, and Asterisk for phones."""
        return self.trusted_proxies + (self.asterisk_networks if self.serves_lines else ())

    @property
    def has_metrics(self) -> bool:
        """Whether metrics are served."""
        return self.metrics_token is not None or self.metrics_port is not None

    def __repr__(self) -> str:
        return f"Settings(data_dir={str(self.data_dir)!r}, ...)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("data_dir", str(self.data_dir))]


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of these environment variables. An empty variable counts as unset.

    A secret may come from a file instead: ``PHONEPROV_X_FILE`` names it. Raises
    ``SettingsError``.
    """
    return settings_from(Variables(environment))


def settings_from(read: Variables) -> Settings:
    """Like ``read_settings``; ``read.readings()`` are the values in force. Raises
    ``SettingsError``."""
    values: dict[str, Any] = {}
    for field, setting in declared():
        default = setting.default if isinstance(setting.default, str) else setting.default(values)
        values[field] = read.value(setting.name, setting.form, default)
    settings = Settings(**values, variables=read)
    _check_together(settings, read)
    return settings


def _is_requested(template: str) -> bool:
    """Whether the service knows the phone that requests a file of this name."""
    mac = "00:1B:D4:12:34:56"
    return mac_in(plain_name(config_filename(template, mac)) or "") == mac


def _check_together(settings: Settings, read: Variables) -> None:
    """Refuse valid settings that contradict each other. Raises ``SettingsError``."""
    if settings.restart is RestartBy.AMI and settings.manager is None:
        raise SettingsError("PHONEPROV_RESTART is ami, but PHONEPROV_AMI_HOST is not set.")
    if settings.adopt and settings.uploader == "ftp" and not settings.ftp_host:
        raise SettingsError(
            "PHONEPROV_ADOPT is pin, but PHONEPROV_FTP_HOST is not set: configurations, and the "
            "login of the FTP server, would go to addresses that level 0 has not confirmed. Set "
            "PHONEPROV_FTP_HOST, or PHONEPROV_UPLOADER=served."
        )
    if settings.uploader == "served" and not _is_requested(settings.ftp_filename):
        raise SettingsError(
            f"PHONEPROV_FTP_FILENAME ({settings.ftp_filename}) is no name that phoneprov provision "
            "serves: {MAC} or {mac}, after SEP, SIP or nothing, and before a dot or nothing."
        )
    _check_provider(settings)
    if settings.password_min > settings.password_max:
        raise SettingsError(
            f"PHONEPROV_PASSWORD_MIN ({settings.password_min}) is more than "
            f"PHONEPROV_PASSWORD_MAX ({settings.password_max})."
        )
    if read.is_set("PHONEPROV_CNF_XML_MAX") and settings.cnf_xml_max > settings.body_max:
        raise SettingsError(
            f"PHONEPROV_CNF_XML_MAX ({settings.cnf_xml_max}) is more than PHONEPROV_BODY_MAX "
            f"({settings.body_max}): no request could carry such a configuration."
        )
    for name, seconds in (
        ("PHONEPROV_ACCESS_TTL", settings.access_ttl),
        ("PHONEPROV_REFRESH_TTL", settings.refresh_ttl),
        ("PHONEPROV_REFRESH_GRACE", settings.refresh_grace),
    ):
        # A default that is longer than the session ends with it.
        if read.is_set(name) and seconds > settings.session_ttl:
            raise SettingsError(
                f"{name} ({seconds}) is more than PHONEPROV_SESSION_TTL ({settings.session_ttl})."
            )


def _check_provider(settings: Settings) -> None:
    """Refuse a provider without what a sign-in needs. Raises ``SettingsError``."""
    if not settings.oidc_issuer:
        if settings.passwords is Passwords.UNLINKED:
            raise SettingsError(
                "PHONEPROV_PASSWORDS is unlinked, but PHONEPROV_OIDC_ISSUER is not set."
            )
        return
    for name, value in (
        ("PHONEPROV_OIDC_CLIENT_ID", settings.oidc_client_id),
        ("PHONEPROV_PUBLIC_URL", settings.public_url),
    ):
        if not value:
            raise SettingsError(f"PHONEPROV_OIDC_ISSUER is set, but {name} is not.")
    if not settings.console:
        raise SettingsError("PHONEPROV_OIDC_ISSUER is set, but PHONEPROV_CONSOLE is off.")


def check_names(settings: Settings) -> None:
    """Refuse misspelled names, which commands and the server do before they start. An adapter
    of another package may read names of its own later: beside one, only names that are similar
    to ours are refused. Raises ``SettingsError``."""
    ours = (
        settings.uploader in UPLOADERS.built_in and settings.phone_driver in PHONE_DRIVERS.built_in
    )
    for name, near in settings.variables.unknown().items():
        if near is not None:
            raise SettingsError(f"{name} is not a setting. Did you mean {near}?")
        if ours:
            raise SettingsError(
                f"{name} is not a setting; unset it. phoneprov settings lists all settings."
            )
