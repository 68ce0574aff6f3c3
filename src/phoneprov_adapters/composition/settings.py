"""The settings of a deployment: one typed object, read from environment variables."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from phoneprov_adapters.asterisk.settings import ManagerSettings
from phoneprov_adapters.composition.texts import Network
from phoneprov_adapters.composition.variables import (
    SettingsError as SettingsError,  # noqa: PLC0414
    Variables,
)
from phoneprov_adapters.ftp.settings import FtpSettings
from phoneprov_adapters.phone.http import PhoneWebSettings
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.auth.model import Lifetimes
from phoneprov_core.desks.model import DeskPolicy
from phoneprov_core.devices.binding import Binding
from phoneprov_core.devices.commands import RestartType
from phoneprov_core.devices.restart import RestartBy
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.retention import KeepDays

HASH_THREADS = "PHONEPROV_HASH_THREADS"


class Settings(Struct, frozen=True, kw_only=True):
    """All settings. ``secret_keys`` is None if a key is created in the data folder; ``manager`` is
    None if no manager interface is configured. ``hash_threads`` is the number of passwords that one
    process checks at a time.

    ``uploader`` and ``phone_driver`` are names of adapters (see
    ``phoneprov_adapters.composition.plugins``). ``variables`` is their source, for adapters with
    settings of their own.
    """

    data_dir: Path
    database_url: str
    secret_keys: str | None
    public_register: bool
    level_rule: LevelRule
    shared_write: SharedWrite
    lifetimes: Lifetimes
    shortest_password: int
    longest_password: int
    hash_threads: int
    guesses_per_address: int
    switches_per_phone: int
    phones_per_caller: int
    largest_xml: int
    most_profiles: int
    most_revisions: int
    keep: KeepDays
    metrics_token: str | None
    metrics_host: str
    metrics_port: int | None
    largest_body: int
    ftp: FtpSettings
    filename_template: str
    phone_networks: PhoneNetworks
    phone_web: PhoneWebSettings
    restart: RestartBy
    restart_type: RestartType
    manager: ManagerSettings | None
    confirm_seconds: int
    trusted_proxies: tuple[Network, ...]
    uploader: str
    files_dir: Path | None
    fetch_binding: Binding
    phone_services: bool
    phone_url: str
    desks: DeskPolicy
    phone_driver: str
    console: bool
    variables: Variables

    @property
    def database_scheme(self) -> str:
        """The part of the database's URL before ``://``."""
        return self.database_url.partition("://")[0]

    @property
    def has_metrics(self) -> bool:
        """Whether metrics are served."""
        return self.metrics_token is not None or self.metrics_port is not None

    def __repr__(self) -> str:
        return f"Settings(data_dir={str(self.data_dir)!r}, ...)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("data_dir", str(self.data_dir))]
