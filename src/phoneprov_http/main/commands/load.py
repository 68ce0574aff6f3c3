"""``phoneprov load``: firmware loads in the folder of files."""

import asyncio
import sys

import click

from phoneprov_adapters.composition.lifecycle import prepare
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.devices.loads import LARGEST, list_name, listed_files
from phoneprov_core.provisioning.names import plain_name
from phoneprov_core.provisioning.ports import SharedFiles
from phoneprov_http.main.commands.settings import settings_of_installation


@click.group()
def load() -> None:
    """Check firmware loads in PHONEPROV_FILES_DIR."""


@load.command()
@click.argument("name")
def check(name: str) -> None:
    """Check that all files of a load are there. Exit with 1 if one is missing.

    NAME is that of the load, such as SCCP45.9-4-2SR3-1S.
    """
    settings = settings_of_installation()
    if settings.files_dir is None:
        raise SettingsError("PHONEPROV_FILES_DIR is not set: there are no files to check.")
    missing, found = asyncio.run(_checked(prepare(settings).shared_files(), name))
    for one in found:
        click.echo(f"{one}: present")
    for one in missing:
        click.echo(f"{one}: missing")
    if missing:
        sys.exit(1)
    click.echo(f"All {len(found)} file(s) of {name} are present.")


async def _checked(files: SharedFiles, name: str) -> tuple[list[str], list[str]]:
    """The names of missing and of present files."""
    listing = list_name(name)
    if plain_name(listing) is None:
        raise click.UsageError("NAME must be a plain name.")
    file = await files.open(listing)
    if file is None:
        return [listing], []
    try:
        await file.load(0)
        content = file.loaded(0, min(file.size, LARGEST)) or b""
    finally:
        file.close()
    names = listed_files(content)
    if not names:
        raise click.UsageError(f"{listing} names no file: it is damaged or no list of a load.")
    missing: list[str] = []
    found = [listing]
    for one in names:
        part = await files.open(one)
        (missing if part is None else found).append(one)
        if part is not None:
            part.close()
    return missing, found
