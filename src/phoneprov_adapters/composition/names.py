"""Names of settings that this version does not have."""

from __future__ import annotations

from phoneprov_adapters.composition.plugins import DATABASES, PHONE_DRIVERS, UPLOADERS
from phoneprov_adapters.composition.settings import Settings, SettingsError


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
