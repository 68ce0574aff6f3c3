"""``phoneprov import``: many records from a file."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import TimeRemainingColumn

from phoneprov_adapters.files.configurations import ConfigurationTable, TemplateTable
from phoneprov_adapters.files.csv import CsvTable
from phoneprov_adapters.files.reading import OwnedBy
from phoneprov_adapters.files.vcard import DIRECTORIES, VcardTable, is_vcard
from phoneprov_core.features.transfer.model import OWNER, Imported, Table
from phoneprov_core.features.transfer.sheets import PERSONAL_DIRECTORY
from phoneprov_core.features.transfer.use_cases import KINDS, columns_in
from phoneprov_http.main.commands.local_access import Acting, as_operator, counting
from phoneprov_http.main.commands.options import printable

_PROFILES = "profiles"
_TEMPLATES = "templates"

Place = Callable[[int], str]
"""The name of a place in the file, from the number of its row."""


@click.command("import")
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("file", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would change and what is wrong.")
@click.option("--keep-going", is_flag=True, help="Skip wrong rows and import the others.")
@click.option(
    "--user", help="Owner of the contacts or profiles, unless a column username names it."
)
def import_(kind: str, file: Path, *, dry_run: bool, keep_going: bool, user: str | None) -> None:
    """Import the rows of a CSV or vCard file. A FILE of - is standard input.

    KIND is users, pins, extensions, user-extensions, phones, desks, kems, locations,
    company-directory, personal-directory, profiles or templates. The first line of
    a CSV file names the columns; vCards (.vcf) are for directories.
    For profiles, FILE is a configuration, a folder of SEP*.cnf.xml, or a CSV file with a column
    "file", "cnf_xml" or "template"; for templates, a CSV file with the columns "name" and "file"
    or "body".

    A row that names an existing record changes it, any other row creates a record; nothing is
    deleted. If a row is wrong, nothing is imported, and the exit code is 1.

    \b
      phoneprov import phones phones.csv --dry-run
      phoneprov import personal-directory contacts.vcf --user ada
      phoneprov import profiles /srv/tftp --user ada
    """
    load = {_PROFILES: _import_profiles, _TEMPLATES: _import_templates}.get(kind, _import_rows)
    try:
        imported, place = load(kind, file, user, dry_run=dry_run, keep_going=keep_going)
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read ({error.strerror}).") from None
    _report(imported, place, user, dry_run=dry_run)


def _import_rows(kind: str, file: Path, user: str | None, **how: Any) -> tuple[Imported, Place]:
    if file.is_dir():
        raise click.UsageError(f"{file} is a folder; only profiles are imported from a folder.")
    if user is not None and kind != PERSONAL_DIRECTORY.name:
        raise click.UsageError("--user is for personal-directory and profiles only.")
    name = "stdin" if str(file) == "-" else file.name
    with readable(file) as path:
        table: Table = CsvTable(path)
        if kind in DIRECTORIES and is_vcard(file):
            table = VcardTable(path, columns_in(kind))
        if user is not None:
            table = OwnedBy(table, user)

        async def work(at: Acting) -> Imported:
            with counting(TimeRemainingColumn()) as bar:
                task = bar.add_task("", total=None)

                def progress(what: str, done: int, total: int | None) -> None:
                    bar.update(task, description=f"Rows {what}", completed=done, total=total)

                return await at.container.transfer().into(
                    at.actor, kind, table, progress=progress, **how
                )

        return as_operator(work), lambda line: f"{name}:{line}"


def _import_profiles(kind: str, file: Path, user: str | None, **how: Any) -> tuple[Imported, Place]:
    if str(file) == "-":
        raise click.UsageError("Profiles are read from a file or a folder, not standard input.")
    table = ConfigurationTable(file, user)
    if user is None and file.suffix.lower() not in {".csv", ".tsv", ".txt"}:
        raise click.UsageError("--user is required: it names the owner of the profiles.")
    _require_known(table, file)
    for name in table.left_out():
        text = f"Left out: {name}, since its name is not SEP, 12 hexadecimal digits and .cnf.xml."
        click.echo(printable(text), err=True)
    imported = as_operator(lambda at: at.container.transfer().into(at.actor, kind, table, **how))
    if imported.total == 0:
        raise click.UsageError(f"{file} contains no SEP*.cnf.xml.")
    return imported, table.place


def _import_templates(
    kind: str, file: Path, user: str | None, **how: Any
) -> tuple[Imported, Place]:
    if user is not None or str(file) == "-" or file.is_dir():
        raise click.UsageError("Templates are read from a CSV file, without --user.")
    table = TemplateTable(file)
    _require_known(table, file)
    imported = as_operator(lambda at: at.container.transfer().into(at.actor, kind, table, **how))
    return imported, table.place


def _require_known(table: ConfigurationTable, file: Path) -> None:
    if wrong := asyncio.run(table.unknown_columns()):
        known = ", ".join(("file", *asyncio.run(table.columns())))
        are = "is not a column" if len(wrong) == 1 else "are not columns"
        raise click.UsageError(
            f"{file.name}: {', '.join(wrong)} {are} of this table; the columns are {known}."
        )


@contextmanager
def readable(file: Path) -> Iterator[Path]:
    """The file; for ``-`` and pipes, which can be read only once, a copy of their content."""
    if str(file) != "-" and file.is_file():
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="phoneprov-import-") as copy:
        with click.open_file(str(file), "rb") as content:
            shutil.copyfileobj(content, copy)
        copy.flush()
        yield Path(copy.name)


def _report(imported: Imported, place: Place, user: str | None, *, dry_run: bool) -> None:
    """Print what is wrong in each row, what is left out of the others, and the numbers of records.
    Exits with 1 if a row is wrong."""
    problems = imported.problems
    if user is not None and any(one.field == OWNER for one in problems):
        raise click.UsageError(f"--user: there is no user with the name {user!r}.")
    for one in (*problems, *imported.notes):
        field = f"{one.field} " if one.field else ""
        click.echo(f"{place(one.line)}: {field}{one.message.removesuffix('.')}.", err=True)
    outcome = "Dry run, nothing was written" if dry_run else "Nothing was written"
    if imported.written:
        outcome = "Imported"
    click.echo(
        f"{outcome}: {imported.created} new, {imported.updated} changed, {imported.unchanged} "
        f"unchanged, {len({problem.line for problem in problems})} wrong."
    )
    if problems:
        sys.exit(1)
