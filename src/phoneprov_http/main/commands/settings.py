"""``phoneprov settings``, and the settings of the environment for other commands."""

import os
import re

import click
import msgspec

from phoneprov_adapters.composition.reading import check_names, read_settings, settings_from
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import Reading, SettingsError, Variables
from phoneprov_http.main.commands.options import as_json, print_json
from phoneprov_http.main.commands.output import table

_PASSWORD_IN_URL = re.compile(r"//.*@", re.DOTALL)


def settings_of_environment() -> Settings:
    """Raises ``SettingsError``, which the command line shows as one line."""
    settings = read_settings(os.environ)
    check_names(settings)
    return settings


def settings_of_installation() -> Settings:
    """The settings for a command that needs an existing installation. Raises
    ``SettingsError``, also when there is none."""
    # Slow to load: with it SQLAlchemy, which "settings" does not need.
    from phoneprov_adapters.composition.installation import require_installation  # noqa: PLC0415

    settings = settings_of_environment()
    require_installation(settings)
    return settings


class Shown(msgspec.Struct, frozen=True):
    """A setting for display. ``value`` is null when nothing is set, and never a secret."""

    name: str
    value: str | None
    source: str


@click.command("settings")
@as_json
def show_settings(*, as_json: bool) -> None:
    """Show every setting in force and its source. Secrets are hidden.

    The source is "default", "environment", or the file that a ..._FILE variable names. Needs
    no database. Exits with 2 when a setting is wrong, and shows those that were read.
    """
    read = Variables(os.environ)
    try:
        check_names(settings_from(read))
    except SettingsError:
        _show(read.readings(), as_json=as_json)
        raise
    _show(read.readings(), as_json=as_json)


def _show(readings: tuple[Reading, ...], *, as_json: bool) -> None:
    shown = [Shown(one.name, _value(one), one.source) for one in readings]
    if as_json:
        print_json(shown)
        return
    rows = [(one.name, one.source, "-" if one.value is None else one.value) for one in shown]
    table(("Setting", "Source", "Value"), rows)


def _value(reading: Reading) -> str | None:
    if not reading.value:
        return None
    if not reading.secret:
        return reading.value
    if "://" in reading.value:
        # The address of a database; its options may hold secrets, too.
        return _PASSWORD_IN_URL.sub("//***@", reading.value).partition("?")[0]
    return "(hidden)"
