"""``phoneprov profile``: profiles from configuration files."""

from pathlib import Path
from typing import Any

import click

from phoneprov_adapters.files.configurations import profile_name
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.kernel.errors import NotFound
from phoneprov_http.main.commands.local_access import (
    Acting,
    as_operator,
    content_of,
    matching,
    profile_called,
)
from phoneprov_http.main.commands.terminal import (
    FILE,
    as_json,
    naming,
    show,
    software_type,
    together,
)

_OPTIONS = {
    "name": "--name",
    "description": "--description",
    "compatible_models": "--model",
    "cnf_xml": "FILE:",
    "template": "--template",
    "values": "--value",
}
_file = click.argument("file", required=False, type=FILE)
_fields = together(
    click.option("--description", help="Description of the profile."),
    click.option(
        "--model", "models", multiple=True, help="Model that the profile fits; can be repeated."
    ),
    software_type("Firmware family that the profile fits."),
    click.option("--template", help="Template to use instead of FILE."),
    click.option(
        "--value",
        "values",
        multiple=True,
        metavar="KEY=TEXT",
        help="Value of the template; can be repeated.",
    ),
    as_json,
)


@click.group()
def profile() -> None:
    """Add or update a profile from a configuration file.

    Many files at once: phoneprov import profiles.
    """


@profile.command()
@_file
@click.option("--user", required=True, help="Username of the owner.")
@click.option("--name", help="Name of the profile; by default the file name.")
@_fields
def add(file: Path | None, *, user: str, name: str | None, as_json: bool, **more: Any) -> None:
    """Add FILE, or a template with values, as a new profile.

    \b
      phoneprov profile add SEP001BD4123456.cnf.xml --user ada --name "Front desk"
      phoneprov profile add --template office --value vlan=120 --user ada --name "Front desk"
    """
    fields = {**_given(more), **_content(file, more)}
    name = name or (profile_name(file) if file else None)
    if name is None:
        raise click.UsageError("--name is required with --template.")

    async def work(at: Acting) -> Profile:
        owner = await _user_called(at, user)
        with naming(_OPTIONS):
            new = CreateProfile(user_uuid=owner, name=name, **fields)
            return await at.container.profiles().create(at.actor, new)

    made = as_operator(work)
    text = f"The profile {made.name!r} of {user} was added: {made.uuid}."
    show(made, text, as_json=as_json)


@profile.command()
@_file
@click.option("--profile", help="Name or uuid of the profile; by default the file name.")
@click.option("--name", help="New name of the profile.")
@_fields
def update(
    file: Path | None, *, profile: str | None, name: str | None, as_json: bool, **more: Any
) -> None:
    """Save FILE, or a template with values, as the newest revision of a profile. No phone changes
    until the next switch.

    \b
      phoneprov profile update new.cnf.xml --profile "Front desk"
      phoneprov profile update --template office --value vlan=7 --profile "Front desk"
    """
    fields = {**_given(more), **_content(file, more), **({"name": name} if name else {})}
    called = profile or (profile_name(file) if file else None)
    if called is None:
        raise click.UsageError("--profile is required with --template.")

    async def work(at: Acting) -> tuple[Profile, int | None]:
        uuid = await profile_called(at, called)
        with naming(_OPTIONS):
            patch = ProfilePatch(**fields)
            changed = await at.container.profiles().update(at.actor, uuid, patch)
        revisions = await (await at.container.profiles().revisions(at.actor, uuid)).everything()
        return changed, max((one.number for one in revisions), default=None)

    changed, newest = as_operator(work)
    show(changed, f"The profile {changed.name!r} has revision {newest}.", as_json=as_json)


def _content(file: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """The content of a profile as fields of a command: a text, or a template with its values."""
    template, given = options["template"], options["values"]
    if (file is None) is (template is None) or (file and given):
        raise click.UsageError("Give FILE, or --template with --value.")
    if file is None:
        pairs = [one.partition("=") for one in given]
        if wrong := [key for key, equals, _ in pairs if not equals]:
            raise click.UsageError(f"--value: {wrong[0]!r} is not KEY=TEXT.")
        return {"template": template, "values": {key: text for key, _, text in pairs}}
    return {"cnf_xml": content_of(file)}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    fields = {
        key: value for key, value in options.items() if value and key not in {"template", "values"}
    }
    if models := fields.pop("models", ()):
        fields["compatible_models"] = models
    return fields


async def _user_called(at: Acting, username: str) -> str:
    wanted = username.casefold()
    users = await at.container.users().all(at.actor)
    for user in await matching(users, lambda one: one.username.casefold() == wanted):
        return user.uuid
    raise NotFound(f"--user: there is no user with the name {username!r}.")
