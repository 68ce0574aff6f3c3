"""``phoneprov lint``: mistakes in configurations, in the format of a compiler."""

import re
import sys
from collections import Counter
from pathlib import Path

import click

from phoneprov_core.inventory.configuration.findings import Finding, Severity
from phoneprov_core.inventory.configuration.lint import lint as findings_in
from phoneprov_core.inventory.configuration.well_formed import LARGEST
from phoneprov_core.inventory.phones.model import FAMILIES, Family
from phoneprov_core.kernel import values as addresses
from phoneprov_http.main.commands.terminal import MAC, as_json, print_json, printable

_OF_PHONE = re.compile(r"SEP([0-9A-Fa-f]{12})\b")


@click.command()
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path),
)
@click.option(
    "--mac",
    type=MAC,
    help="MAC of the phone; by default taken from a file name such as SEP001BD4123456.cnf.xml.",
)
@click.option(
    "--family",
    type=click.Choice(FAMILIES, case_sensitive=False),
    help="Firmware family of the phone.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@as_json
def lint(
    files: tuple[Path, ...],
    *,
    mac: str | None,
    family: Family | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Look for mistakes in device configurations. A FILE of - is standard input.

    Prints FILE:LINE:COLUMN: SEVERITY: MESSAGE [CODE], one finding a line. With an error the
    phone rejects the file or applies a wrong setting; with a warning it may behave otherwise
    than intended. Needs no database and no settings. Exits with 1 if there is an error.

    \b
      phoneprov lint SEP001BD4123456.cnf.xml
      phoneprov lint --strict /tftpboot/*.cnf.xml
    """
    found = [(str(file), _found(file, mac, family)) for file in files]
    counted = Counter(finding.severity for _, findings in found for finding in findings)
    if as_json:
        print_json([{"file": name, "findings": findings} for name, findings in found])
    else:
        for name, findings in found:
            for finding in findings:
                click.echo(line_of(name, finding))
        if counted:
            counts = ", ".join(f"{counted[one]} {one.value}(s)" for one in Severity if counted[one])
            click.echo(f"{counts} in {len(files)} file(s)", err=True)
    if counted[Severity.ERROR] or (strict and counted[Severity.WARNING]):
        sys.exit(1)


def line_of(name: str, finding: Finding) -> str:
    """A finding in one line, as editors parse it."""
    place = f"{name}:{finding.line}:{finding.column}"
    return printable(f"{place}: {finding.severity.value}: {finding.message} [{finding.code}]")


def _found(file: Path, mac: str | None, family: str | None) -> tuple[Finding, ...]:
    named = _OF_PHONE.match(file.name)
    if mac is None and named:
        mac = addresses.known_mac(named[1]) or None
    with click.open_file(str(file), "rb") as stream:
        # One byte more shows that the file is too large.
        return findings_in(stream.read(LARGEST + 1), mac=mac, family=family)
