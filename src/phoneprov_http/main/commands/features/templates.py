"""``phoneprov template``: templates of configurations, their variants and revisions."""

import sys
from pathlib import Path
from typing import Any

import click

from phoneprov_adapters.rendering.renderer import check as check_body
from phoneprov_core.features.batches.plan import Plan
from phoneprov_core.features.templates.deployed import RenderRequest, TemplateDiff
from phoneprov_core.features.templates.model import (
    CreateTemplate,
    PlanText,
    Template,
    TemplatePatch,
    TemplateText,
)
from phoneprov_core.kernel.actor import SYSTEM
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.values import known_id
from phoneprov_http.main.commands.features.learning import FILES, learn
from phoneprov_http.main.commands.features.rollout import show_plan
from phoneprov_http.main.commands.inventory.lint import line_of
from phoneprov_http.main.commands.local_access import (
    Acting,
    as_operator,
    content_of,
    matching,
    profile_called,
)
from phoneprov_http.main.commands.terminal import (
    FILE,
    MAC,
    as_json,
    naming,
    print_json,
    show as shown,
    show_rows,
    software_type,
    together,
)

_file = click.argument("file", type=FILE)
_OPTIONS = {"name": "--name", "description": "--description", "model": "--model", "body": "FILE:"}
_variant = together(
    click.option("--model", help="Model of the phones that the variant is for."),
    software_type("Firmware family that the variant is for."),
)
_description = click.option("--description", help="Description of the variant.")
_shared = click.option(
    "--shared/--not-shared",
    default=None,
    help="Whether users without level 0 may use the template, and so read its rendered text.",
)


@click.group()
def template() -> None:
    """Add, update, compare and render templates of configurations."""


template.add_command(learn)


@template.command()
@_file
@click.option("--name", required=True, help="Name of the template.")
@_variant
@_description
@_shared
@as_json
def add(file: Path, *, shared: bool | None, as_json: bool, **fields: Any) -> None:
    """Add FILE as a variant of a template.

    \b
      phoneprov template add office.cnf.xml --name office --model 7945 --software-type SCCP
    """
    body = content_of(file)

    async def work(at: Acting) -> Template:
        with naming(_OPTIONS):
            new = CreateTemplate(body=body, shared=bool(shared), **fields)
            return await at.container.templates().create(at.actor, new)

    made = as_operator(work)
    shown(made, f"The template {made.label} was added: {made.uuid}.", as_json=as_json)


@template.command()
@_file
@click.argument("name")
@_variant
@_description
@_shared
@as_json
def update(
    file: Path, name: str, *, model: str | None, software_type: str | None,
    description: str | None, shared: bool | None, as_json: bool,
) -> None:  # fmt: skip
    """Save FILE as the text of a variant. NAME is the name of the template (with --model and
    --software-type of the variant) or the uuid of the variant. No phone changes until the next
    switch."""
    body = content_of(file)

    async def work(at: Acting) -> Template:
        uuid = await _called(at, name, model, software_type)
        given = {"description": description, "shared": shared}
        fields: Any = {name: value for name, value in given.items() if value is not None}
        with naming(_OPTIONS):
            patch = TemplatePatch(body=body, **fields)
            return await at.container.templates().update(at.actor, uuid, patch)

    made = as_operator(work)
    shown(made, f"The template {made.label} has revision {made.revision}.", as_json=as_json)


@template.command("list")
@as_json
def list_(*, as_json: bool) -> None:
    """List the variants of all templates."""

    async def work(at: Acting) -> list[Template]:
        return await (await at.container.templates().all(at.actor)).everything()

    templates = as_operator(work)
    rows = [
        (
            one.name,
            one.model or "",
            one.software_type or "",
            str(one.revision),
            "yes" if one.shared else "",
            one.uuid,
        )
        for one in templates
    ]
    columns = ("Name", "Model", "Firmware", "Revision", "Shared", "UUID")
    show_rows(templates, columns, rows, as_json=as_json)


@template.command()
@click.argument("name")
@_variant
@click.option("--revision", type=int, help="Number of the revision.  [default: the newest]")
@as_json
def show(
    name: str, *, model: str | None, software_type: str | None, revision: int | None, as_json: bool
) -> None:
    """Print the text of a variant, or of one of its revisions. NAME may be a uuid.

    \b
      phoneprov template show office --model 7945 --revision 2 > office.cnf.xml
    """

    async def work(at: Acting) -> TemplateText:
        uuid = await _called(at, name, model, software_type)
        return await at.container.templates().revision(at.actor, uuid, revision)

    found = as_operator(work)
    if as_json:
        print_json(found)
    else:
        click.echo(found.body, nl=False)


@template.command()
@click.argument("name")
@_variant
@as_json
def revisions(name: str, *, model: str | None, software_type: str | None, as_json: bool) -> None:
    """List the revisions of the text of a variant, oldest first."""

    async def work(at: Acting) -> list[TemplateText]:
        uuid = await _called(at, name, model, software_type)
        return await (await at.container.templates().revisions(at.actor, uuid)).everything()

    found = as_operator(work)
    rows = [
        (
            str(one.number),
            str(one.size),
            one.created_at,
            "command line" if one.created_by == SYSTEM else one.created_by,
        )
        for one in found
    ]
    columns = ("Revision", "Bytes", "Saved at", "Saved by")
    show_rows(found, columns, rows, as_json=as_json)


@template.command()
@click.argument("name")
@_variant
@click.option("--from", "from_", type=int, help="Older revision.  [default: the one before --to]")
@click.option("--to", type=int, help="Newer revision.  [default: the newest]")
@as_json
def diff(
    name: str, *, model: str | None, software_type: str | None, from_: int | None,
    to: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Print the difference between two revisions of a variant. Secrets are not masked.

    \b
      phoneprov template diff office --from 2 --to 5
    """

    async def work(at: Acting) -> TemplateDiff:
        uuid = await _called(at, name, model, software_type)
        return await at.container.try_template().difference(at.actor, uuid, from_, to)

    found = as_operator(work)
    if as_json:
        print_json(found)
    else:
        click.echo(
            found.diff or f"The revisions {found.from_} and {found.to} are equal.\n", nl=False
        )


@template.command()
@click.argument("name")
@click.argument("number", type=int)
@_variant
@as_json
def restore(
    name: str, number: int, *, model: str | None, software_type: str | None, as_json: bool
) -> None:
    """Save the text of revision NUMBER again, as the newest revision of the variant. No phone
    changes until the next switch: see `phoneprov template plan` before it.

    \b
      phoneprov template restore office 2
    """

    async def work(at: Acting) -> tuple[Template, bool]:
        templates = at.container.templates()
        before = await templates.get(at.actor, await _called(at, name, model, software_type))
        text = await templates.revision(at.actor, before.uuid, number)
        patch = TemplatePatch(body=text.body or "", revision=before.revision)
        made = await templates.update(at.actor, before.uuid, patch)
        return made, made.revision > before.revision

    made, is_new = as_operator(work)
    text = f"has revision {made.revision}, the text of revision {number}"
    if not is_new:
        text = f"has this text already, as revision {made.revision}; nothing was saved"
    shown(made, f"The template {made.label} {text}.", as_json=as_json)


@template.command()
@click.argument("name")
@click.argument("file", required=False, type=FILE)
@_variant
@as_json
def plan(
    name: str, file: Path | None, *, model: str | None, software_type: str | None, as_json: bool
) -> None:
    """Show the phones whose configuration a variant would change: with the text in FILE or, without
    FILE, with the stored text. Changes nothing. Phones with the same difference are one group.

    \b
      phoneprov template plan office new.cnf.xml --model 7945
    """
    wanted = PlanText(body=None if file is None else content_of(file))

    async def work(at: Acting) -> Plan:
        uuid = await _called(at, name, model, software_type)
        with naming(_OPTIONS):
            return await at.container.plan_template()(at.actor, uuid, wanted)

    found = as_operator(work)
    if as_json:
        print_json(found)
    else:
        show_plan(found, "do not fit")


@template.command()
@FILES
@as_json
def check(files: tuple[Path, ...], *, as_json: bool) -> None:
    """Check the texts of templates for mistakes, as `phoneprov lint` checks configurations. Needs
    no database. Exits with 1 if a text has a mistake."""
    found = [(str(file), check_body(content_of(file))) for file in files]
    if as_json:
        print_json([{"file": name, "findings": findings} for name, findings in found])
    else:
        for name, findings in found:
            for finding in findings:
                click.echo(line_of(name, finding))
    if any(findings for _, findings in found):
        sys.exit(1)


@template.command()
@click.argument("name")
@click.argument("profile")
@click.argument("mac", type=MAC)
@_variant
@as_json
def render(
    name: str, profile: str, mac: str, *, model: str | None, software_type: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the configuration of a phone, rendered from a template and a profile. Secrets are
    masked. Exits with 1 if the template fails."""

    async def work(at: Acting) -> Any:
        uuid = await _called(at, name, model, software_type)
        request = RenderRequest(profile_uuid=await profile_called(at, profile), mac=mac)
        return await at.container.try_template()(at.actor, uuid, request)

    trial = as_operator(work)
    if as_json:
        print_json(trial)
    else:
        if trial.configuration is not None:
            click.echo(trial.configuration, nl=not trial.configuration.endswith("\n"))
        for finding in trial.findings:
            click.echo(line_of(name, finding), err=True)
    if trial.configuration is None:
        sys.exit(1)


async def _called(at: Acting, name: str, model: str | None, family: str | None) -> str:
    """The uuid of a variant. Raises ``NotFound``, and ``Conflict`` if several variants match."""
    if uuid := known_id(name):
        return uuid
    # Stored models are normalised, so the model to compare is normalised in the same way.
    bare = CreateTemplate(name=name, body="<a/>", model=model).model
    found = await matching(
        await at.container.templates().all(at.actor),
        lambda one: (
            one.name == name
            and (model is None or one.model == bare)
            and (family is None or one.software_type == family)
        ),
    )
    if not found:
        raise NotFound(f"There is no such variant of the template {name}.")
    if len(found) > 1:
        raise Conflict(
            f"The template {name} has {len(found)} variants that match; select one with --model "
            "and --software-type."
        )
    return found[0].uuid
