"""``phoneprov desks``, ``phoneprov desk`` and ``phoneprov phone-urls``."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

import click

from phoneprov_core.features.desks.model import Desk, DeskPatch, ListedDesk
from phoneprov_core.features.lines.use_cases import NO_LINE
from phoneprov_core.inventory.extensions import ExtensionSearch
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import NotFound
from phoneprov_http.main.commands.local_access import Acting, as_operator, matching, profile_called
from phoneprov_http.main.commands.settings import settings_of_installation
from phoneprov_http.main.commands.terminal import MAC, as_json, moment, naming, show_rows

_LONGEST_URL = 255
_ELEMENTS = {
    "authenticationURL": "authentication",
    "servicesURL": "services",
    "directoryURL": "directories",
}
_SECURE = {
    "secureAuthenticationURL": "authentication",
    "secureServicesURL": "services",
    "secureDirectoryURL": "directories",
}


@click.command()
@as_json
def desks(*, as_json: bool) -> None:
    """List desks: users, default profiles, numbers.

    Times are UTC.

    \b
      phoneprov desks
      phoneprov desks --json
    """
    found, names = as_operator(_found)
    rows = [
        (
            one.mac,
            desk.username or "-",
            names.get(desk.profile_uuid or "", "-"),
            moment(desk.since) if desk.since else "-",
            moment(desk.until) if desk.until else "-",
            "yes" if desk.hotdesk else "no",
            one.default_profile or "-",
            one.number or "-",
        )
        for one in found
        for desk in [one.desk]
    ]
    heads = ("phone", "user", "profile", "since", "until", "hotdesk", "default profile", "number")
    show_rows([one.desk for one in found], heads, rows, as_json=as_json)


async def _found(at: Acting) -> tuple[list[ListedDesk], dict[str, str]]:
    found = await (await at.container.desks().listed(at.actor)).everything()
    profiles = await at.container.profiles().all(at.actor)
    return found, {one.uuid: one.name async for piece in profiles for one in piece}


@click.group()
def desk() -> None:
    """Configure a phone as a desk, or log its user out."""


@desk.command("set-default")
@click.argument("mac", type=MAC)
@click.argument("profile", required=False)
@click.option("--none", "clear", is_flag=True, help="Remove the default profile.")
@click.option("--hotdesk/--no-hotdesk", default=None, help="Whether users can log in.")
@click.option("--number", help="Extension of the phone while no user is logged in.")
@click.option("--no-number", is_flag=True, help="Remove the phone's own extension.")
@click.option(
    "--until",
    metavar="TIME",
    help="Time at which logins end, such as '06:00 Europe/Berlin'; '' for the office's hours.",
)
def set_default(
    mac: str,
    profile: str | None,
    *,
    clear: bool,
    hotdesk: bool | None,
    number: str | None,
    no_number: bool,
    until: str | None,
) -> None:
    """Set the default profile of the phone MAC to PROFILE.

    PROFILE is a name or uuid. The phone has this profile while no user is logged in. The phone
    keeps its configuration until the next logout; phoneprov switch deploys the profile now.

    \b
      phoneprov desk set-default 001bd4123456 Lobby
      phoneprov desk set-default 001bd4123456 --none
      phoneprov desk set-default 001bd4123456 --number 101
      phoneprov desk set-default 001bd4123456 --until '06:00 Europe/Berlin'
    """
    is_asked = any(one is not None for one in (profile, hotdesk, number, until))
    if (profile is not None and clear) or not (is_asked or clear or no_number):
        raise click.UsageError("Name a profile, or use --none.")
    if number is not None and no_number:
        raise click.UsageError("Use --number or --no-number, not both.")

    with naming({"ends_at": "--until"}):
        given = {} if until is None else {"ends_at": until or None}
        command_of(DeskPatch, given)

    async def change(at: Acting) -> tuple[Desk, bool]:
        fields: dict[str, Any] = {} if hotdesk is None else {"hotdesk": hotdesk}
        fields |= given
        if clear or profile is not None:
            uuid = None if profile is None else await profile_called(at, profile)
            fields["default_profile_uuid"] = uuid
        if number is not None or no_number:
            uuid = None if number is None else await _extension_numbered(at, number)
            fields["extension_uuid"] = uuid
        changed = await at.container.desks().update(at.actor, mac, DeskPatch(**fields))
        serves = at.container.settings().serves_lines
        return changed, serves and await at.container.lines().lacks_default_line(changed.mac)

    changed, is_mute = as_operator(change)
    default = "no default profile" if changed.default_profile_uuid is None else "a default profile"
    click.echo(f"{mac} has {default}; users can{'' if changed.hotdesk else 'not'} log in.")
    if number is not None or no_number:
        own = "no number" if number is None else f"the number {number}"
        click.echo(f"{mac} has {own} of its own.")
    if until is not None:
        click.echo(f"Logins at {mac} end at {changed.ends_at or 'the hours of the office'}.")
    if is_mute:
        click.echo(f"Warning: {NO_LINE}", err=True)


async def _extension_numbered(at: Acting, number: str) -> str:
    """The uuid of the extension with this number. Raises ``NotFound``."""
    found = await at.container.extensions().all(at.actor, wanted=ExtensionSearch(q=number))
    for extension in await matching(found, lambda one: one.extension == number):
        return extension.uuid
    raise NotFound(f"There is no extension with the number {number!r}.")


@desk.command("logout")
@click.argument("mac", type=MAC)
def logout(mac: str) -> None:
    """Log out the user at the phone MAC. Deploys the phone's default profile.

    \b
      phoneprov desk logout 001bd4123456
    """
    as_operator(lambda at: at.container.desks().log_out(at.actor, mac))
    click.echo(f"No user is logged in at {mac}.")


@click.command("phone-urls")
@click.argument("address", required=False)
def phone_urls(address: str | None) -> None:
    """Print the URLs of the phone pages for a configuration.

    The output is XML elements of a configuration. ADDRESS is the address of this service for
    phones, such as 10.0.0.2:8000; by default PHONEPROV_PHONE_URL.

    \b
      phoneprov phone-urls 10.0.0.2:8000
    """
    base = address or settings_of_installation().phone_url
    if not base:
        raise click.UsageError("Name the address of the service, or set PHONEPROV_PHONE_URL.")
    base = _base(base)
    pages = f"{escape(base)}/phone"
    for name, page in (_ELEMENTS | _SECURE if base.startswith("https") else _ELEMENTS).items():
        click.echo(f"<{name}>{pages}/{page}</{name}>")
    click.echo("<!-- A line key for one press, on button n: -->")
    click.echo(
        '<line button="n"><featureID>20</featureID><featureLabel>Log in</featureLabel>'
        f"<serviceURI>{pages}/services</serviceURI></line>"
    )


def _base(address: str) -> str:
    """The base of the URLs. Raises ``UsageError``."""
    text = address if "://" in address else f"http://{_bracketed(address)}"
    parts = urlsplit(text.rstrip("/"))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query:
        raise click.UsageError(f"{address} is not an address such as 10.0.0.2:8000.")
    base = text.rstrip("/")
    if len(f"{base}/phone/authentication") > _LONGEST_URL:
        raise click.UsageError(f"Phones take URLs of at most {_LONGEST_URL} characters.")
    return base


def _bracketed(address: str) -> str:
    try:
        return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    except ValueError:
        return address
