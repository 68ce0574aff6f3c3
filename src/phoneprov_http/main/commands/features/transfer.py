"""``phoneprov export`` and ``phoneprov import``."""

import asyncio
import errno
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import click
from rich.progress import TimeRemainingColumn

from phoneprov_adapters.composition.doctor_lines import SNAPSHOT_STAMP
from phoneprov_adapters.files.configurations import ConfigurationTable, TemplateTable
from phoneprov_adapters.files.csv import CsvTable, CsvWriter
from phoneprov_adapters.files.excel import ExcelTable, is_excel
from phoneprov_adapters.files.reading import OwnedBy
from phoneprov_adapters.files.vcard import DIRECTORIES, VcardTable, VcardWriter, is_vcard
from phoneprov_core.features.transfer.asterisk import Section
from phoneprov_core.features.transfer.model import OWNER, Imported, Table
from phoneprov_core.features.transfer.sheets import EXTENSIONS, PERSONAL_DIRECTORY
from phoneprov_core.features.transfer.texts import SentTable
from phoneprov_core.features.transfer.use_cases import KINDS, columns_in, columns_out
from phoneprov_core.kernel.errors import Refused
from phoneprov_http.main.commands.local_access import (
    Acting,
    as_operator,
    counting,
    readable,
    written,
)
from phoneprov_http.main.commands.terminal import naming, printable

_CONTENTS = {"profiles", "templates"}
"""Kinds that are exported with all their texts, also with secrets in them."""
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""Errors of the disk: the command is correct, so its help would be of no use."""

OMITTED = 3
"""The exit code if the file was written without the records that Asterisk cannot have."""

_ASTERISK = {"sccp": "chan_sccp", "pjsip": "chan_pjsip"}


@click.command("export")
@click.argument(
    "kind", metavar="KIND", type=click.Choice([kind for kind in KINDS if kind != "pins"])
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", "csv", "vcard", "sccp", "pjsip"]),
    default="auto",
    show_default=True,
    help="sccp and pjsip are configuration files of Asterisk; auto is vcard for .vcf, else csv.",
)
@click.option("--with-secrets", is_flag=True, help="Include the passwords of extensions.")
@click.option(
    "--context",
    show_default="PHONEPROV_ASTERISK_CONTEXT",
    help="Context of PJSIP endpoints.",
)
def export(kind: str, file: Path, *, format_: str, with_secrets: bool, context: str | None) -> None:
    """Export all records of a kind. A FILE of - is standard output.

    KIND is users, extensions, user-extensions, phones, desks, kems, locations,
    company-directory, personal-directory, profiles or templates. An existing file is replaced when
    the export is complete, unless its content is the same. A pipe or device is written directly.
    Passwords of users and PINs are never exported. Profiles and templates are exported with all
    their texts. A file with secrets can be read only by its owner. If Asterisk cannot have some
    records, the file is written without these records, each is named, and the exit code is 3.

    \b
      phoneprov export phones phones.csv
      phoneprov export company-directory - --format vcard
    """
    columns = columns_out(kind, with_secrets=with_secrets)
    if with_secrets and kind != EXTENSIONS.name:
        raise click.UsageError("--with-secrets is for extensions only.")
    if format_ in _ASTERISK and kind != "extensions":
        raise click.UsageError(f"--format {format_} is for extensions only.")
    if format_ == "vcard" and kind not in DIRECTORIES:
        raise click.UsageError("--format vcard is for directories only.")
    if _is_standard_output(file):
        file = Path("-")
    by_name = format_ == "auto" and kind in DIRECTORIES and is_vcard(file)
    as_vcard = format_ == "vcard" or by_name
    left_out: list[str] = []
    try:
        with written(file, private=with_secrets or kind in _CONTENTS) as out:

            async def write(at: Acting) -> int:
                if driver := _ASTERISK.get(format_):
                    sections = at.container.transfer().asterisk(
                        at.actor,
                        driver,
                        with_secrets=with_secrets,
                        context=context or at.container.settings().asterisk_context,
                    )
                    return await _write_sections(sections, out, left_out)
                rows = at.container.transfer().out(at.actor, kind, with_secrets=with_secrets)
                writer = VcardWriter(out) if as_vcard else CsvWriter(out, columns)
                count = 0
                async for piece in rows:
                    await asyncio.to_thread(writer.write, piece)
                    count += len(piece)
                return count

            count = as_operator(write)
        if format_ == "pjsip" and with_secrets and str(file) != "-":
            as_operator(_stamped)
    except BrokenPipeError:
        raise  # the reader closed the pipe, as ``head`` does: click exits without a message
    except OSError as error:
        if error.errno in _OF_THE_DISK:
            raise Refused(f"{file} cannot be written: {error.strerror}.") from None
        raise click.UsageError(f"{file} cannot be written ({error.strerror}).") from None
    except ValueError as error:
        raise click.UsageError(f"--context: {error}.") from None
    for line in left_out:
        click.echo(f"phoneprov: {line}", err=True)
    target = "standard output" if str(file) == "-" else file
    click.echo(f"{count} record(s) were written to {target}.", err=str(file) == "-")
    if left_out:
        sys.exit(OMITTED)


async def _stamped(at: Acting) -> None:
    """Note the time of the export for ``phoneprov doctor``."""
    (at.container.settings().data_dir / SNAPSHOT_STAMP).touch()


async def _write_sections(
    sections: AsyncIterator[Section], out: TextIO, left_out: list[str]
) -> int:
    count = 0
    out.write("; Written by phoneprov; changes made here are lost with the next export.\n\n")
    async for section in sections:
        out.write(section.text)
        if section.left_out is None:
            count += 1
        else:
            left_out.append(section.left_out)
    return count


def _is_standard_output(file: Path) -> bool:
    # Opening /dev/stdout again would truncate the file to which the output is redirected, and the
    # last message would overwrite the beginning of the file.
    with suppress(OSError, ValueError):
        names = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
        return str(file) in names and sys.stdout.fileno() == 1
    return False


_PROFILES = "profiles"
_TEMPLATES = "templates"

Place = Callable[[int], str]
"""Returns the place of a row for messages (file and line) from the number of the row."""


@click.command("import")
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("file", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show changes and problems; write nothing.")
@click.option("--keep-going", is_flag=True, help="Skip wrong rows and import the others.")
@click.option(
    "--user", help="Owner of the contacts or profiles, unless a column username names it."
)
def import_(kind: str, file: Path, *, dry_run: bool, keep_going: bool, user: str | None) -> None:
    """Import the rows of a CSV, Excel or vCard file. A FILE of - is standard input.

    KIND is users, pins, extensions, user-extensions, phones, desks, kems, locations,
    company-directory, personal-directory, profiles or templates. The first line of a CSV
    file, or the first row of the first sheet of an Excel file (.xlsx), names the columns; vCards
    (.vcf) are for directories.
    For profiles, FILE is a configuration, a folder of SEP*.cnf.xml, or a table with a column
    "file", "cnf_xml" or "template"; for templates, a table with the columns "name" and "file"
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
    of_cards = columns_in(kind) if kind in DIRECTORIES and is_vcard(file) else None
    with readable_table(file, of_cards) as read:
        table: Table = read
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
    if user is None and not table.is_table():
        raise click.UsageError("--user is required: it names the owner of the profiles.")
    for name in table.left_out():
        text = f"Left out: {name}, since its name is not SEP, 12 hexadecimal digits and .cnf.xml."
        click.echo(printable(text), err=True)
    imported = _of_table(kind, file, table, **how)
    if imported.total == 0:
        raise click.UsageError(f"{file} contains no SEP*.cnf.xml.")
    return imported, table.place


def _import_templates(
    kind: str, file: Path, user: str | None, **how: Any
) -> tuple[Imported, Place]:
    if user is not None or str(file) == "-" or file.is_dir():
        raise click.UsageError("Templates are read from a CSV or Excel file, without --user.")
    table = TemplateTable(file)
    return _of_table(kind, file, table, **how), table.place


def _of_table(kind: str, file: Path, table: ConfigurationTable, **how: Any) -> Imported:
    with naming_sheets(file, table):
        if wrong := asyncio.run(table.unknown_columns()):
            known = ", ".join(("file", *asyncio.run(table.columns())))
            are = "is not a column" if len(wrong) == 1 else "are not columns"
            raise click.UsageError(
                f"{file.name}: {', '.join(wrong)} {are} of this table; the columns are {known}."
            )
        return as_operator(lambda at: at.container.transfer().into(at.actor, kind, table, **how))


@contextmanager
def readable_table(file: Path, of_cards: tuple[str, ...] | None = None) -> Iterator[SentTable]:
    """The table in the file or in standard input: in vCards with these columns, in an Excel file,
    whose other sheets are named afterwards, or in a CSV file."""
    with readable(file) as path:
        if of_cards is not None:
            yield VcardTable(path, of_cards)
            return
        table = ExcelTable(path) if is_excel(path, file) else CsvTable(path)
        with naming_sheets(file, table):
            yield table


@contextmanager
def naming_sheets(file: Path, table: SentTable) -> Iterator[None]:
    """Adds the name of the file to errors, and names the sheets that were not read."""
    with naming({"xlsx": str(file)}):
        yield
    if table.unread:
        others = printable(", ".join(table.unread))
        click.echo(f"Only the first sheet of {file} was read; not read: {others}.", err=True)


def _report(imported: Imported, place: Place, user: str | None, *, dry_run: bool) -> None:
    """Print the problems of wrong rows, the notes on other rows, and the numbers of records. Exits
    with 1 if a row is wrong."""
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
