"""``phoneprov desks``, ``phoneprov desk`` and ``phoneprov phone-urls``."""

import asyncio
import ipaddress
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

import click
from msgspec import UNSET, UnsetType

from phoneprov_core.desks.model import Desk, DeskPatch
from phoneprov_http.main.commands.local_access import acting, profile_called
from phoneprov_http.main.commands.options import as_json, mac_of, print_json
from phoneprov_http.main.commands.output import table
from phoneprov_http.main.commands.settings import settings_of_installation
from phoneprov_http.main.commands.wording import moment

_LONGEST_URL = 255


@click.command()
@as_json
def desks(*, as_json: bool) -> None:
    """List the phones, the users logged in there, and their default profiles.

    Times are UTC.

    \b
      phoneprov desks
      phoneprov desks --json
    """
    found, names = asyncio.run(_found())
    if as_json:
        print_json(found)
        return
    rows = [
        (
            desk.mac,
            desk.username or "-",
            names.get(desk.profile_uuid or "", "-"),
            moment(desk.since) if desk.since else "-",
            moment(desk.until) if desk.until else "-",
            "yes" if desk.hotdesk else "no",
            names.get(desk.default_profile_uuid or "", "-"),
        )
        for desk in found
    ]
    table(("phone", "user", "profile", "since", "until", "hotdesk", "default profile"), rows)


async def _found() -> tuple[list[Desk], dict[str, str]]:
    async with acting() as at:
        found = await (await at.use_cases.desks.all(at.actor)).everything()
        profiles = await at.use_cases.profiles.all(at.actor)
        names = {one.uuid: one.name async for piece in profiles for one in piece}
        return found, names


@click.group()
def desk() -> None:
    """Configure a phone as a desk, or log its user out."""


@desk.command("set-default")
@click.argument("mac", callback=mac_of)
@click.argument("profile", required=False)
@click.option("--none", "clear", is_flag=True, help="The phone has no default profile.")
@click.option("--hotdesk/--no-hotdesk", default=None, help="Whether users can log in.")
def set_default(mac: str, profile: str | None, *, clear: bool, hotdesk: bool | None) -> None:
    """Set the default profile of the phone MAC to PROFILE (name or uuid).

    The phone has this profile while no user is logged in. It keeps its configuration until the
    next logout; phoneprov switch deploys the profile now.

    \b
      phoneprov desk set-default 001bd4123456 Lobby
      phoneprov desk set-default 001bd4123456 --none
    """
    if (profile is not None and clear) or (profile is None and not clear and hotdesk is None):
        raise click.UsageError("Name a profile, or use --none.")

    async def change() -> Desk:
        async with acting() as at:
            default: str | UnsetType | None = UNSET
            if clear:
                default = None
            elif profile is not None:
                default = await profile_called(at, profile)
            patch = DeskPatch(
                default_profile_uuid=default, hotdesk=UNSET if hotdesk is None else hotdesk
            )
            return await at.use_cases.desks.update(at.actor, mac, patch)

    changed = asyncio.run(change())
    default = "no default profile" if changed.default_profile_uuid is None else "a default profile"
    click.echo(f"{mac} has {default}; users can{'' if changed.hotdesk else 'not'} log in.")


@desk.command("logout")
@click.argument("mac", callback=mac_of)
def logout(mac: str) -> None:
    """Log out the user at the phone MAC, and deploy its default profile.

    \b
      phoneprov desk logout 001bd4123456
    """

    async def log_out() -> Desk:
        async with acting() as at:
            return await at.use_cases.desks.log_out(at.actor, mac)

    asyncio.run(log_out())
    click.echo(f"No user is logged in at {mac}.")


@click.command("phone-urls")
@click.argument("address", required=False)
def phone_urls(address: str | None) -> None:
    """Print the elements of a device configuration that lead to the phone pages.

    ADDRESS is the address at which phones reach this service, such as 10.0.0.2:8000; by default
    PHONEPROV_PHONE_URL.

    \b
      phoneprov phone-urls 10.0.0.2:8000
    """
    base = address or settings_of_installation().phone_url
    if not base:
        raise click.UsageError("Name the address of the service, or set PHONEPROV_PHONE_URL.")
    base = _base(base)
    services = f"{base}/phone/services"
    lines = [
        f"<authenticationURL>{escape(base)}/phone/authentication</authenticationURL>",
        f"<servicesURL>{escape(services)}</servicesURL>",
        f"<directoryURL>{escape(base)}/phone/directories</directoryURL>",
    ]
    if base.startswith("https"):
        lines += [
            f"<secureAuthenticationURL>{escape(base)}/phone/authentication</secureAuthenticationURL>",
            f"<secureServicesURL>{escape(services)}</secureServicesURL>",
            f"<secureDirectoryURL>{escape(base)}/phone/directories</secureDirectoryURL>",
        ]
    click.echo("\n".join(lines))
    click.echo("<!-- A line key for one press, on button n: -->")
    click.echo(
        '<line button="n"><featureID>20</featureID><featureLabel>Log in</featureLabel>'
        f"<serviceURI>{escape(services)}</serviceURI></line>"
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
