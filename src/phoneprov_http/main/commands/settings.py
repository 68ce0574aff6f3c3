"""``phoneprov settings``, and the settings from the environment for other commands."""

import os
import re

import click
import msgspec

from phoneprov_adapters.composition.settings import (
    Settings,
    check_names,
    read_settings,
    settings_from,
)
from phoneprov_adapters.composition.table import declared
from phoneprov_adapters.composition.variables import Reading, SettingsError, Variables, closest
from phoneprov_http.main.commands.terminal import as_json, print_json, show_rows

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_PASSWORD_IN_URL = re.compile(r"//.*@", re.DOTALL)


def settings_of_environment() -> Settings:
    """The settings from the environment. Raises ``SettingsError``, which the command line shows as
    one line."""
    settings = read_settings(os.environ)
    check_names(settings)
    return settings


def settings_of_installation() -> Settings:
    """The settings for a command that needs an existing installation. Raises
    ``SettingsError``, also when there is none."""
    # Imported here because it loads SQLAlchemy, which is slow and not needed by "settings".
    from phoneprov_adapters.composition.lifecycle import require_installation  # noqa: PLC0415

    settings = settings_of_environment()
    require_installation(settings)
    return settings


class SettingValue(msgspec.Struct, frozen=True):
    """A setting for display. ``value`` is null if the setting is empty, and never a secret."""

    name: str
    value: str | None
    source: str


@click.command("settings")
@click.argument("name", required=False)
@as_json
def show_settings(name: str | None, *, as_json: bool) -> None:
    """Show the settings and their sources, or explain NAME. Secrets are hidden.

    The source is "default", "environment", or the file that a ..._FILE variable names. Needs no
    database. If a setting is wrong, the settings that were read are shown, and the exit code is 2.

    \b
      phoneprov settings
      phoneprov settings PHONEPROV_FTP_TIMEOUT
    """
    if name is not None:
        _explain(name, as_json=as_json)
        return
    read = Variables(os.environ)
    try:
        check_names(settings_from(read))
    finally:
        _show(read.readings(), as_json=as_json)


class Explained(msgspec.Struct, frozen=True):
    """The meaning, the allowed values and the default of a setting."""

    name: str
    meaning: str
    value: str
    default: str


def _explain(name: str, *, as_json: bool) -> None:
    settings = {setting.name: setting for _, setting in declared()}
    found = settings.get(name)
    if found is None:
        near = closest(name, settings)
        raise SettingsError(
            f"{name} is not a setting." + (f" Did you mean {near}?" if near else "")
        )
    words, default = found.form.words or "any text", found.shown_default
    shown = Explained(name, *(_LINK.sub(r"\1", text) for text in (found.text, words, default)))
    if as_json:
        print_json(shown)
        return
    for field, text in msgspec.structs.asdict(shown).items():
        click.echo(f"{field.capitalize() + ':':<9}{text}")


def _show(readings: tuple[Reading, ...], *, as_json: bool) -> None:
    shown = [SettingValue(one.name, _value(one), one.source) for one in readings]
    rows = [(one.name, one.source, "-" if one.value is None else one.value) for one in shown]
    show_rows(shown, ("Setting", "Source", "Value"), rows, as_json=as_json)


def _value(reading: Reading) -> str | None:
    if not reading.value:
        return None
    if not reading.secret:
        return reading.value
    if "://" in reading.value:
        # The address of a database; its options may hold secrets, too.
        return _PASSWORD_IN_URL.sub("//***@", reading.value).partition("?")[0]
    return "(hidden)"
