"""The command line."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from phoneprov_adapters.settings import SettingsError
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_http.main.admin import create_admin, db
from phoneprov_http.main.demo import demo
from phoneprov_http.main.keys import keys
from phoneprov_http.main.openapi import openapi
from phoneprov_http.main.serve import serve
from phoneprov_http.main.simulate import simulate_phone
from phoneprov_http.main.transfer import export, import_

HELP = """Own your office telephony: put a person's phone profile onto any desk phone.

Settings come from environment variables (PHONEPROV_..., PUBLIC_REGISTER); a secret may come
from a file that PHONEPROV_..._FILE names. A first look:

\b
  phoneprov demo                       the whole job against a simulated phone
  phoneprov create-admin --username ada --email ada@example.com
  phoneprov serve                      serve on http://127.0.0.1:8000
"""


class OneLine(click.Group):
    """A group whose commands end with one line on standard error instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            fail(str(error), 2)
        except PhoneprovError as error:
            details = "".join(f" {p.field}: {p.message}." for p in error.problems[1:])
            fail(error.message + details, 1)


def fail(message: str, code: int) -> NoReturn:
    """One line on standard error, and an exit code: 2 for what was asked, 1 for the rest."""
    click.echo(f"phoneprov: {' '.join(message.split())}", err=True)
    sys.exit(code)


@click.group(cls=OneLine, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="phoneprov")
def main() -> None:
    """See HELP."""


main.add_command(serve)
main.add_command(create_admin)
main.add_command(db)
main.add_command(keys)
main.add_command(import_)
main.add_command(export)
main.add_command(demo)
main.add_command(simulate_phone)
main.add_command(openapi)
