"""``phoneprov backup`` and ``phoneprov restore``."""

import asyncio
from pathlib import Path

import click

from phoneprov_adapters.composition.lifecycle import make_folder, opened, prepare, require_keys
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.runtime.tasks import ordered_id, system_clock
from phoneprov_adapters.security.keys import key_file
from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_adapters.sql.engines.processes import alone, require_no_users
from phoneprov_adapters.sql.engines.revisions import UnfitSchema
from phoneprov_adapters.sql.engines.sqlite_file import create
from phoneprov_adapters.sql.maintenance import backup as backup_archive, backup as backups
from phoneprov_core.kernel.actor import NO_ORIGIN, SYSTEM_ACTOR, Event, Trail
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import AuditEntry
from phoneprov_core.people.audit_entries import entries
from phoneprov_http.main.commands.settings import settings_of_environment, settings_of_installation
from phoneprov_http.main.commands.terminal import FILE


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--with-keys", is_flag=True, help="Include the key file of the data folder.")
def backup(file: Path, *, with_keys: bool) -> None:
    """Back up the embedded database to FILE. Checks the backup; the service may run.

    FILE must not exist. It has mode 0600 and gets its name when it is complete. The secrets in the
    backup can be read only with the secret keys: back up the keys separately, or include the key
    file with --with-keys. Use pg_dump to back up PostgreSQL.
    """
    settings = settings_of_installation()
    database = _embedded(settings, "backed up with pg_dump")
    keys = key_file(settings.data_dir)
    if with_keys and settings.secret_keys is not None:
        raise SettingsError(
            "PHONEPROV_SECRET_KEYS is set: the keys are not in the data folder. Back up their "
            "source, and omit --with-keys."
        )
    made = backups.back_up(
        database, file, timestamp(system_clock()), keys=keys if with_keys else None
    )
    size = made.files[backup_archive.DATABASE].size
    click.echo(f"{file}: {size:,} bytes, schema {made.schema}, checked.")
    if not with_keys:
        where = "PHONEPROV_SECRET_KEYS" if settings.secret_keys is not None else str(keys)
        click.echo(f"The backup does not contain the secret keys. Back up {where} as well.")


@click.command()
@click.argument("file", type=FILE)
def restore(file: Path) -> None:
    """Restore a backup into an empty data folder.

    Fails if the folder contains a database. The database gets its name when it is complete and
    checked. The key file of the backup is restored if the folder has no key file.
    """
    settings = settings_of_environment()
    database = _embedded(settings, "restored with pg_restore")
    asyncio.run(_restore(settings, file, database))
    keys = key_file(settings.data_dir)
    if settings.secret_keys is None and not keys.exists():
        click.echo(f"The backup has no secret keys: put the key file back as {keys} (mode 0600).")
        return
    problem = asyncio.run(_missing_keys(settings))
    click.echo(problem or "The secret keys fit the backup.")


async def _restore(settings: Settings, file: Path, database: Path) -> None:
    manifest = await asyncio.to_thread(backup_archive.check, file)
    make_folder(settings)
    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with alone(database):
        await asyncio.to_thread(require_no_users, database)
        for held in (database, *(database.with_name(database.name + end) for end in _BESIDE)):
            if held.exists():
                raise Conflict(
                    f"{held} exists: the folder contains data. Move it away, or set "
                    "PHONEPROV_DATA_DIR to an empty folder."
                )

        async def fill(draft: Path) -> None:
            await asyncio.to_thread(backups.extract_database, file, draft, _entry(manifest))
            await asyncio.to_thread(backups.extract_keys, file, key_file(settings.data_dir))

        await create(database, fill)
    click.echo(
        f"{database} was restored from the backup of {manifest.created_at} (version "
        f"{manifest.version}, schema {manifest.schema})."
    )


def _entry(manifest: backup_archive.Manifest) -> AuditEntry:
    """The audit entry for the restore, which is added to the restored database."""
    trail = Trail(SYSTEM_ACTOR)
    fields = {"backup_created_at": manifest.created_at, "version": manifest.version}
    trail.note(Event("database.restored", "database", None, fields))
    now = timestamp(system_clock())
    (made,) = entries(trail, new_id=ordered_id, now=now, origin=NO_ORIGIN)
    return made.entry


_BESIDE = ("-wal", "-shm", "-journal")


async def _missing_keys(settings: Settings) -> str | None:
    """A sentence that names the missing keys of the restored database; None if none is missing."""
    container = prepare(settings)
    try:
        async with opened(container):
            await require_keys(container)
    except SettingsError as error:
        return str(error)
    except UnfitSchema as error:
        return f"The secret keys were not checked. {error.message}"
    return None


def _embedded(settings: Settings, other: str) -> Path:
    database = embedded_file(settings.database_url)
    if database is None:
        raise SettingsError(
            f"PHONEPROV_DATABASE_URL names a shared database, which is {other}: see "
            "docs/how-to/back-up-and-restore.md."
        )
    return database
