"""The settings of the environment, as commands read them."""

from __future__ import annotations

import os

from phoneprov_adapters.composition.settings import Settings, read_settings


def settings_of_environment() -> Settings:
    """Raises ``SettingsError``, which the command line turns into one line."""
    return read_settings(os.environ)
