"""``phoneprov load``: firmware loads in the folder of files."""

import asyncio
import sys

import click

from phoneprov_adapters.composition.lifecycle import prepare
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.configuration.values import ending_of
from phoneprov_core.devices.names import plain_name
from phoneprov_core.provisioning.loads import CheckLoad
from phoneprov_http.main.commands.settings import settings_of_installation


@click.group()
def load() -> None:
    """Check firmware loads in PHONEPROV_FILES_DIR."""


@load.command()
@click.argument("name")
def check(name: str) -> None:
    """Check that all files of a load are there. Exit with 1 if one is missing.

    NAME is that of the load, such as SCCP45.9-4-2SR3-1S. The ending of a file after it is ignored.
    """
    settings = settings_of_installation()
    if settings.files_dir is None:
        raise SettingsError("PHONEPROV_FILES_DIR is not set: there are no files to check.")
    name = name.removesuffix(ending_of(name) or "")
    if plain_name(name) is None:
        raise click.UsageError("NAME must be a plain name.")
    files = asyncio.run(CheckLoad(prepare(settings).shared_files())(name))
    if files.is_damaged:
        raise click.UsageError(str(files.fault))
    if not files.present:
        click.echo(f"{name}: missing, no file has the name {files.wanted}.")
        sys.exit(1)
    for one in files.present:
        click.echo(f"{one}: present")
    for one in files.missing:
        click.echo(f"{one}: missing")
    if files.missing:
        sys.exit(1)
    click.echo(f"All {len(files.present)} file(s) of {name} are present.")
