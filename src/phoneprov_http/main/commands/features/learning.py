"""``phoneprov template learn``: templates from existing configurations."""

import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from phoneprov_adapters.files.configurations import profile_name, read_configuration
from phoneprov_adapters.files.csv import CsvWriter
from phoneprov_adapters.rendering.renderer import render as render_body
from phoneprov_core.features.templates.learning import Learned, learn as learned_from
from phoneprov_core.features.templates.use_cases import TemplateFault, TemplateValues
from phoneprov_core.features.transfer.configurations import VALUE
from phoneprov_core.inventory.configuration.well_formed import LARGEST, device_xml_rule
from phoneprov_http.main.commands.local_access import (
    written,
)
from phoneprov_http.main.commands.terminal import (
    FILE,
)

FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
_OF_PHONE = re.compile(r"SEP([0-9A-Fa-f]{12})\b")


@click.command()
@FILES
@click.option("--name", default="learned", show_default=True, help="Name of the template.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Folder for the template and the table of values.",
)
def learn(files: tuple[Path, ...], *, name: str, into: Path) -> None:
    """Infer templates and a table of values from existing configurations.

    Configurations with about the same elements share one template: elements that some of them lack
    are in a condition. Writes NAME.cnf.xml (NAME-2.cnf.xml and so on for configurations with other
    elements) and NAME.csv, a table of profiles for `phoneprov import profiles`. Then renders each
    file back, and names the line and the column of the first difference. Exits with 1 if a rendered
    file differs, or if a file was left out because no phone could read it. Needs no database.

    \b
      phoneprov template learn /srv/tftp/SEP*.cnf.xml --name office --into learned
    """
    texts: dict[str, str] = {}
    names: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for file in files:
        try:
            text = read_configuration(file)  # refuses a large file before reading all of it
            mark = "\ufeff" if file.read_bytes().startswith(b"\xef\xbb\xbf") else ""
            texts[str(file)] = device_xml_rule()(mark + text)
        except (OSError, ValueError) as error:
            click.echo(f"Left out: {file} {error}.", err=True)
        # Files of several folders may have the same name.
        called = profile_name(file)
        seen[called] += 1
        names[str(file)] = called if seen[called] == 1 else f"{called} ({seen[called]})"
    macs = {name: found[1].upper() for name in texts if (found := _OF_PHONE.match(Path(name).name))}
    groups = learned_from(texts, macs)
    into.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for number, group in enumerate(groups, 1):
        part = name if number == 1 else f"{name}-{number}"
        for one, values in group.values.items():
            if difference := _difference(texts[one], group, values, macs.get(one, "")):
                wrong += 1
                click.echo(f"{one}:{difference}", err=True)
        _write(into, part, group, names)
        count = len({key for values in group.values.values() for key in values})
        click.echo(
            f"{into / part}.cnf.xml: the template of {len(group.values)} file(s), {count} value(s)"
        )
    proved = len(texts) - wrong
    click.echo(f"{proved} of {len(names)} file(s) were rendered back byte for byte.")
    if proved < len(names):
        sys.exit(1)


def _write(into: Path, name: str, group: Learned, names: Mapping[str, str]) -> None:
    """Write a template and its table. Only the owner can read the files: values may be
    passwords."""
    with written(into / f"{name}.cnf.xml", private=True) as file:
        file.write(group.body)
    keys = list(next(iter(group.values.values())))
    with written(into / f"{name}.csv", private=True) as file:
        rows = CsvWriter(file, ["name", "template", *(f"{VALUE}{key}" for key in keys)])
        rows.write(
            {"name": names[one], "template": name, **{f"{VALUE}{key}": values[key] for key in keys}}
            for one, values in group.values.items()
        )


def _difference(text: str, group: Learned, values: Any, mac: str) -> str | None:
    """The first difference between the rendered text and the file, with its place, or None."""
    phone = {"hex": mac, "mac": ":".join(re.findall("..", mac))}
    try:
        made = render_body(group.body, TemplateValues({"phone": phone}, {}, values), LARGEST).text
    except TemplateFault as fault:
        return f"{fault.line}:{fault.column}: {fault.reason}"
    if made == text:
        return None
    same = next((at for at in range(len(text)) if text[at : at + 1] != made[at : at + 1]), 0)
    line = text.count("\n", 0, same) + 1
    column = same - text.rfind("\n", 0, same)
    return f"{line}:{column}: The rendered text differs from here on."
