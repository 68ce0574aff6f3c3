"""``phoneprov import`` and ``phoneprov export``: many records as files."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from phoneprov_adapters.files.configurations import ConfigurationTable
from phoneprov_adapters.files.csv import CsvTable, CsvWriter
from phoneprov_adapters.files.pieces import OwnedBy
from phoneprov_adapters.files.vcard import VcardTable, VcardWriter
from phoneprov_core.transfer.model import Imported, RowProblem, Table
from phoneprov_core.transfer.profiles import PROFILE_COLUMNS
from phoneprov_core.transfer.sheets import OWNER, SHEETS, Sheet
from phoneprov_core.transfer.use_cases import sheet_of
from phoneprov_http.main.commands.local_access import acting, counting

_KIND = click.argument("kind", metavar="KIND", type=click.Choice(list(SHEETS)))
_VCARD = ("company-directory", "personal-directory")
_ASTERISK = {"sccp": "chan_sccp", "pjsip": "chan_pjsip"}


_PROFILES = "profiles"


@click.command("import")
@click.argument("kind", metavar="KIND", type=click.Choice([*SHEETS, _PROFILES]))
@click.argument("file", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would change and what is wrong.")
@click.option("--keep-going", is_flag=True, help="Skip wrong rows and import the others.")
@click.option(
    "--user", help="Owner of the contacts or profiles, unless a column username names it."
)
def import_(kind: str, file: Path, *, dry_run: bool, keep_going: bool, user: str | None) -> None:
    """Import the rows of a file: CSV, or vCard (.vcf) for directories; - is standard input.

    KIND is users, extensions, phones, desks, kems, company-directory, personal-directory or
    profiles.
    The first line of a CSV file names the columns. For profiles, FILE is a configuration, a
    folder of SEP*.cnf.xml, or a CSV file with a column "file".

    A row that names an existing record changes it, any other row creates a record; nothing is
    deleted. If a row is wrong, nothing is imported, and the exit code is 1.

    \b
      phoneprov import phones phones.csv --dry-run
      phoneprov import personal-directory contacts.vcf --user ada
      phoneprov import profiles /srv/tftp --user ada
    """
    if kind == _PROFILES:
        _import_profiles(file, user, dry_run=dry_run, keep_going=keep_going)
        return
    if file.is_dir():
        raise click.UsageError(f"{file} is a folder; only profiles are imported from a folder.")
    sheet = sheet_of(kind)
    if user is not None and not sheet.owned:
        raise click.UsageError("--user is for personal-directory and profiles only.")
    try:
        with _readable(file) as path:
            table: Table = CsvTable(path)
            if _is_vcard(sheet, file, "auto"):
                table = VcardTable(path, sheet.columns)
            if user is not None:
                table = OwnedBy(table, user)
            imported = asyncio.run(_import(kind, table, dry_run=dry_run, keep_going=keep_going))
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read ({error.strerror}).") from None
    problems = imported.problems
    if user is not None and any(one.field == OWNER for one in problems):
        raise click.UsageError(f"--user: there is no user with the name {user!r}.")
    for problem in problems:
        click.echo(_line_of(file, problem), err=True)
    click.echo(_summary(imported, dry_run=dry_run))
    if problems:
        sys.exit(1)


def _import_profiles(file: Path, user: str | None, *, dry_run: bool, keep_going: bool) -> None:
    table = ConfigurationTable(file, user)
    is_csv = file.suffix.lower() in {".csv", ".tsv", ".txt"}
    if user is None and not is_csv:
        raise click.UsageError("--user is required: it names the owner of the profiles.")

    async def work() -> Imported:
        if wrong := await table.unknown_columns():
            known = ", ".join(("file", *PROFILE_COLUMNS[:-1]))
            raise click.UsageError(
                f"{file.name}: {wrong[0]} is not a column of this table; the columns are {known}."
            )
        async with acting(watching=False) as at:
            return await at.use_cases.transfer.profiles(
                at.actor, table, dry_run=dry_run, keep_going=keep_going
            )

    try:
        imported = asyncio.run(work())
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read ({error.strerror}).") from None
    if imported.total == 0:
        raise click.UsageError(f"{file} contains no SEP*.cnf.xml.")
    if user is not None and any(one.field == OWNER for one in imported.problems):
        raise click.UsageError(f"--user: there is no user with the name {user!r}.")
    for problem in imported.problems:
        field = f"{problem.field} " if problem.field else ""
        click.echo(f"{table.place(problem.line)}: {field}{problem.message}.", err=True)
    click.echo(_summary(imported, dry_run=dry_run))
    if imported.problems:
        sys.exit(1)


@click.command("export")
@_KIND
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
@click.option("--context", default="default", show_default=True, help="Context of PJSIP endpoints.")
def export(kind: str, file: Path, *, format_: str, with_secrets: bool, context: str) -> None:
    """Export all records of a kind to a file; - is standard output.

    KIND is users, extensions, phones, desks, kems, company-directory or personal-directory. An
    existing file is replaced when the export is complete; a pipe or device is written to.
    Passwords of users are never exported. Only its owner can read a file with secrets.

    \b
      phoneprov export phones phones.csv
      phoneprov export company-directory - --format vcard
    """
    sheet = sheet_of(kind)
    if with_secrets and not sheet.secret:
        raise click.UsageError("--with-secrets is for extensions only.")
    if format_ in _ASTERISK and kind != "extensions":
        raise click.UsageError(f"--format {format_} is for extensions only.")
    if format_ == "vcard" and kind not in _VCARD:
        raise click.UsageError("--format vcard is for directories only.")
    try:
        with _written(file, private=with_secrets) as out:
            if format_ in _ASTERISK:
                work = _asterisk(_ASTERISK[format_], out, context, with_secrets=with_secrets)
            else:
                as_vcard = _is_vcard(sheet, file, format_)
                work = _export(sheet, out, as_vcard=as_vcard, with_secrets=with_secrets)
            count, left_out = asyncio.run(work)
    except OSError as error:
        raise click.UsageError(f"{file} cannot be written ({error.strerror}).") from None
    except ValueError as error:
        raise click.UsageError(f"--context: {error}.") from None
    for line in left_out:
        click.echo(f"phoneprov: {line}", err=True)
    click.echo(f"{count} record(s) were written to {file}.", err=str(file) == "-")
    if left_out:
        sys.exit(1)


async def _import(kind: str, table: Table, *, dry_run: bool, keep_going: bool) -> Imported:
    async with acting(watching=False) as at:
        with counting() as progress:
            task = progress.add_task("", total=None)
            return await at.use_cases.transfer.into(
                at.actor,
                kind,
                table,
                dry_run=dry_run,
                keep_going=keep_going,
                progress=lambda what, done, total: progress.update(
                    task, description=f"Rows {what}", completed=done, total=total
                ),
            )


async def _export(
    sheet: Sheet, out: TextIO, *, as_vcard: bool, with_secrets: bool
) -> tuple[int, list[str]]:
    count = 0
    columns = sheet.leaving(with_secrets=with_secrets)
    writer = VcardWriter(out) if as_vcard else CsvWriter(out, columns)
    async with acting(watching=False) as at:
        async for rows in at.use_cases.transfer.out(
            at.actor, sheet.name, with_secrets=with_secrets
        ):
            await asyncio.to_thread(writer.write, rows)
            count += len(rows)
    return count, []


async def _asterisk(
    driver: str, out: TextIO, context: str, *, with_secrets: bool
) -> tuple[int, list[str]]:
    count, left_out = 0, []
    async with acting(watching=False) as at:
        out.write("; Written by phoneprov; changes made here are lost with the next export.\n\n")
        sections = at.use_cases.transfer.asterisk(
            at.actor, driver, with_secrets=with_secrets, context=context
        )
        async for section in sections:
            out.write(section.text)
            count += section.left_out is None
            if section.left_out is not None:
                left_out.append(section.left_out)
    return count, left_out


def _is_vcard(sheet: Sheet, file: Path, format_: str) -> bool:
    ending = file.suffix.lower() in {".vcf", ".vcard"}
    return sheet.name in _VCARD and (format_ == "vcard" or (format_ == "auto" and ending))


@contextmanager
def _written(file: Path, *, private: bool) -> Iterator[TextIO]:
    """Standard output for ``-``; what exists at ``file`` if that is no regular file (a pipe, a
    device); else a new file that replaces ``file``, or the target of a link, when complete."""
    if str(file) == "-":
        yield sys.stdout
        return
    if _is_special(file):
        with file.open("w", encoding="utf-8", newline="") as special:
            yield special
        return
    file = file.resolve()
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_special(file: Path) -> bool:
    # /dev/stdout leads to a regular file when the output is redirected to one; to replace that
    # file would leave the open descriptor with the old one.
    if Path(os.path.normpath(file.absolute())).parts[1:2] in {("dev",), ("proc",)}:
        return True
    return file.exists() and not file.is_file()


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """The file; for ``-`` and pipes, which can be read only once, a copy of their content."""
    if str(file) != "-" and file.is_file():
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="phoneprov-import-") as copy:
        with click.open_file(str(file), "rb") as content:
            shutil.copyfileobj(content, copy)
        copy.flush()
        yield Path(copy.name)


def _line_of(file: Path, problem: RowProblem) -> str:
    field = f"{problem.field} " if problem.field else ""
    name = "stdin" if str(file) == "-" else file.name
    return f"{name}:{problem.line}: {field}{problem.message}."


def _summary(imported: Imported, *, dry_run: bool) -> str:
    bad = len({problem.line for problem in imported.problems})
    counts = (
        f"{imported.created} new, {imported.updated} changed, {imported.unchanged} unchanged, "
        f"{bad} wrong"
    )
    if imported.written:
        return f"Imported: {counts}."
    if dry_run:
        return f"Dry run, nothing was written: {counts}."
    return f"Nothing was written: {counts}."
