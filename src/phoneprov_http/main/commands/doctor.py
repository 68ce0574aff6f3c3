"""``phoneprov doctor``: check the whole installation."""

import asyncio
import logging
import os
import sys

import click

from phoneprov_adapters.composition.doctor import examine
from phoneprov_adapters.composition.doctor_lines import SERVICE, CheckResult, Verdict
from phoneprov_http.main.commands.terminal import as_json, show_rows


@click.command()
@click.option(
    "--url", default=SERVICE, show_default=True, help="The service as Asterisk reaches it."
)
@as_json
def doctor(*, url: str, as_json: bool) -> None:
    """Check settings, keys, database, servers and phones.

    Says what to do about each fault. Changes nothing; the service may run meanwhile. It logs in
    on the FTP server and on Asterisk, and asks up to five phones. Where Asterisk asks for lines,
    it sends the same request to the service, and compares the phones of both. Exits with 0 if no
    check fails, with 1 otherwise.
    """
    logging.getLogger("phoneprov").addHandler(logging.NullHandler())
    findings = asyncio.run(_all(url))
    rows = []
    for one in findings:
        rows.append((one.check, one.state.value, one.message))
        if one.next_step is not None:
            rows.append(("", "", f"Next: {one.next_step}"))
    show_rows(findings, ("Check", "State", "Finding"), rows, as_json=as_json)
    if any(one.state is Verdict.FAILED for one in findings):
        sys.exit(1)


async def _all(url: str) -> list[CheckResult]:
    return [finding async for finding in examine(os.environ, url)]
