"""``phoneprov sync``: people from a directory."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from phoneprov_adapters.files.excel import ExcelTable, is_excel
from phoneprov_adapters.files.ldif import LdifTable, WholeCsv
from phoneprov_core.features.sync.model import Directory, Synced, SyncOptions
from phoneprov_core.kernel.commands import command_of
from phoneprov_http.main.commands.features.transfer import naming_sheets
from phoneprov_http.main.commands.local_access import as_operator, readable
from phoneprov_http.main.commands.terminal import naming, printable

_OPTIONS = {"source": "--source", "most": "--most", "missing": "--missing"}


class _Percent(click.ParamType[int]):
    """A number of percent, with or without its sign."""

    name = "percent"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        text = str(value).removesuffix("%")
        if not (text.isascii() and text.isdigit() and int(text) <= 100):
            self.fail("it must be 0% to 100%", param, ctx)
        return int(text)


@click.group()
def sync() -> None:
    """Take over people from a directory."""


@sync.command()
@click.argument("file", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--source", required=True, help="Name of the directory, such as ad.")
@click.option("--dry-run", is_flag=True, help="Show each change; write nothing.")
@click.option(
    "--map",
    "pairs",
    metavar="FIELD=ATTRIBUTE",
    multiple=True,
    help="Attribute or column for a field, instead of the default.",
)
@click.option(
    "--missing",
    type=click.Choice(["deactivate", "keep"]),
    default="deactivate",
    show_default=True,
    help="Whether accounts that are missing from FILE are deactivated.",
)
@click.option(
    "--most",
    type=_Percent(),
    default="10%",
    show_default=True,
    help="Maximum share of people to deactivate or rename; up to 5 are always allowed.",
)
@click.option("--adopt", is_flag=True, help="Link existing accounts with the same username.")
@click.option("--contacts", is_flag=True, help="Update the company directory, too.")
def people(
    file: Path,
    *,
    source: str,
    dry_run: bool,
    pairs: tuple[str, ...],
    missing: str,
    most: int,
    adopt: bool,
    contacts: bool,
) -> None:
    """Create and update accounts from the people of a directory. A FILE of - is standard input.

    FILE is LDIF as ldapsearch prints it, or a CSV or Excel file (.csv, .tsv, .xlsx) with a column
    key. A person is matched by key only (objectGUID, entryUUID, or --map key=...), so a new
    username keeps the account. A missing person is deactivated, never deleted. A wrong entry is
    skipped, and the exit code is 1. If the input is empty or incomplete, or if too many people
    would be deactivated or renamed, nothing is written, and the exit code is 5.

    \b
      phoneprov sync people people.ldif --source ad --dry-run
      phoneprov sync people staff.csv --source entra --map key=id
    """
    mapped: dict[str, str] = {}
    for pair in pairs:
        name, equals, attribute = pair.partition("=")
        if not equals or not attribute or name in mapped:
            raise click.UsageError(f"--map: {pair!r} is not FIELD=ATTRIBUTE, once for each field.")
        mapped[name] = attribute
    with naming(_OPTIONS):
        options = command_of(
            SyncOptions,
            {
                "source": source,
                "attributes": mapped,
                "missing": missing,
                "most": most,
                "adopt": adopt,
                "contacts": contacts,
                "dry_run": dry_run,
            },
        )
    if file.is_dir():
        raise click.UsageError(f"{file} is a folder.")
    # A pipe is read to its end before the database is opened.
    with readable(file) as path, ExitStack() as stack:
        directory: Directory = LdifTable(path)
        if is_excel(path, file):
            directory = excel = ExcelTable(path)
            stack.enter_context(naming_sheets(file, excel))
        elif _is_csv(path if str(file) == "-" else file):
            directory = WholeCsv(path)
        synced = as_operator(lambda at: at.container.sync_people()(at.actor, directory, options))
    _report(synced, "stdin" if str(file) == "-" else file.name, dry_run=dry_run)


def _is_csv(file: Path) -> bool:
    """Whether a file is a table: by its name, else by its first line. The first line of LDIF is a
    comment, a version, an entry or a result, which begin with # or contain a colon."""
    if file.suffix.lower() in {".csv", ".tsv"}:
        return True
    if file.suffix.lower() in {".ldif", ".ldf"}:
        return False
    with file.open("rb") as content:
        first = content.readline(1000)
    return bool(first.strip()) and b":" not in first and not first.startswith(b"#")


def _report(synced: Synced, name: str, *, dry_run: bool) -> None:
    """Print the problems, the changes of a dry run, and the numbers. Exits with 1 if an entry is
    wrong."""
    for one in synced.problems:
        place = f"{name}:{one.line}: " if one.line else ""
        field = f"{one.field} " if one.field else ""
        click.echo(printable(f"{place}{field}{one.message.removesuffix('.')}."), err=True)
    if dry_run:
        for person in synced.people:
            if person.outcome != "unchanged":
                changes = "".join(
                    f", {field} {change['old'] or '-'} -> {change['new'] or '-'}"
                    for field, change in person.changes.items()
                )
                click.echo(printable(f"{person.outcome} {person.username}{changes}"))
        for username in synced.left:
            click.echo(printable(f"deactivated {username}"))
    outcome = "Dry run, nothing was written" if dry_run else "Nothing was written"
    if synced.written:
        outcome = "Synchronised"
    more = f", {synced.kept} missing kept" if synced.kept else ""
    more += f", {synced.contacts} contacts changed" if synced.contacts else ""
    click.echo(
        f"{outcome}: {synced.count('created')} new, {synced.count('updated')} changed, "
        f"{synced.count('unchanged')} unchanged, {len(synced.left)} missing deactivated{more}, "
        f"{synced.failed} wrong."
    )
    if synced.problems:
        sys.exit(1)
