"""Findings of doctor, and the findings about lines."""

import asyncio
import time
from collections.abc import Awaitable
from enum import Enum
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from msgspec import Struct

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_core.features.lines.use_cases import CompareLines
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.devices.names import device_name


class Verdict(Enum):
    """The result of a check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not set up, or not possible because another check failed."""


class CheckResult(Struct, frozen=True):
    """The result of one check. ``next_step`` says what to do about a failure."""

    check: str
    state: Verdict
    message: str
    next_step: str | None = None


Outcome = tuple[Verdict, str, str | None]


def ok(message: str) -> Outcome:
    """A check that succeeded."""
    return Verdict.OK, message, None


def failed(message: str, next_step: str) -> Outcome:
    """A check that failed."""
    return Verdict.FAILED, message, next_step


def skipped(message: str) -> Outcome:
    """A check that was not possible."""
    return Verdict.SKIPPED, message, None


async def checked(check: str, work: Awaitable[Outcome], next_step: str) -> CheckResult:
    """The result of a check. An error is a failure with this next step."""
    try:
        outcome = await work
    except (SettingsError, PhoneprovError) as error:
        outcome = failed(str(error), next_step)
    return CheckResult(check, *outcome)


SERVICE = "http://127.0.0.1:8000"
"""Where the service listens by default."""

SNAPSHOT_STAMP = "pjsip-export"
"""The file in the data folder whose time is that of the newest PJSIP export with secrets."""

_PHONES = 5
_MOST_NAMED = 20
_OLD_SECONDS = 3600
_SNAPSHOT_STEP = "Enable the timer phoneprov-pjsip.timer: see docs/how-to/lines.md."
_SEARCHED = 200
_ANSWER_SECONDS = 5.0
_MOST_BYTES = 65_536
_OLD = "Restart phoneprov serve with the settings of this check."
_STEPS = {
    401: "The service runs with another PHONEPROV_ASTERISK_TOKEN: restart it.",
    403: "Add this host to PHONEPROV_ASTERISK_NETWORKS, or run the check on the host of Asterisk.",
}


async def answers(container: Container, *, url: str) -> Outcome:
    """Ask the service as Asterisk does."""
    token = container.settings().asterisk_token
    if token is None:
        return skipped("PHONEPROV_ASTERISK_TOKEN is not set.")
    async with container.database().read() as tx:
        active = [one for one in await tx.phones.rows(_SEARCHED) if one.is_active]
    name = device_name(active[0].mac) if active else "SEP000000000000"
    try:
        status, body = await asyncio.to_thread(_asked, url, token, name)
    except (OSError, ValueError, HTTPException) as error:
        return failed(
            f"The service does not answer at {url}: {type(error).__name__}.",
            "Start phoneprov serve; --url says where Asterisk reaches it.",
        )
    if status == 200 and body.startswith(f"name={name}&".encode()):
        return ok(f"The service answers for {name} as Asterisk asks.")
    if status == 404 and not body and not active:
        return ok("The service answers as Asterisk asks; no phone is active.")
    return failed(f"The service answers {status} for {name}.", _STEPS.get(status, _OLD))


def _asked(url: str, token: str, name: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)
    try:
        path = f"{parts.path.rstrip('/')}/asterisk/sccpdevice/single"
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        connection.request("POST", path, f"name={name}", headers)
        reply = connection.getresponse()
        return reply.status, reply.read(_MOST_BYTES)
    finally:
        connection.close()


async def compared(container: Container) -> Outcome:
    """Compare the phones registered at Asterisk with the phones that phoneprov reports to it."""
    if not container.settings().serves_lines:
        return skipped("PHONEPROV_ASTERISK_TOKEN is not set.")
    exchange = container.exchange_lines()
    if exchange is None:
        return skipped("PHONEPROV_AMI_HOST is not set.")
    devices = sorted(await exchange.devices())
    lines = container.lines()
    compare = CompareLines(container.database(), exchange, container.clock())
    unknown = [mac for mac in devices if await lines.device(device_name(mac)) is None]
    seen = [(mac, await compare(mac)) for mac in devices[:_PHONES] if mac not in unknown]
    if unknown:
        return failed(
            f"{len(unknown)} of {len(devices)} phones in Asterisk are not active phones of the "
            f"inventory; the first is {unknown[0]}.",
            "Add them, or remove them from sccp.conf; hotline_enabled = no refuses unknown phones.",
        )
    wrong = [(mac, message) for mac, (is_same, message) in seen if is_same is False]
    if wrong:
        return failed(
            f"{len(wrong)} of {len(seen)} phones that were compared have other lines. "
            f"{wrong[0][0]}: {wrong[0][1]}",
            "Restart the phone, or remove its section from sccp.conf.",
        )
    return ok(f"Asterisk has {len(devices)} phones, all of them of the inventory.")


async def emergency_numbers(container: Container) -> Outcome:
    """Whether an emergency call from each phone with logins presents the number of its place."""
    if not container.settings().serves_lines:
        return skipped("PHONEPROV_ASTERISK_TOKEN is not set.")
    actor = container.use_cases().system_actor()
    macs = await container.lines().without_emergency_number(actor)
    if not macs:
        return ok("Each phone with logins has a location with an emergency number.")
    named = ", ".join(macs[:_MOST_NAMED]) + (", ..." if len(macs) > _MOST_NAMED else "")
    return failed(
        f"{len(macs)} active phones with logins have no emergency number: {named}",
        "Give them a location with an emergency number: see docs/how-to/emergency-calls.md.",
    )


async def exported(container: Container) -> Outcome:
    """The age of the newest export for Asterisk, which serves while this service is away."""
    settings = container.settings()
    if settings.asterisk_token is None or not settings.asterisk_pjsip:
        return skipped("PHONEPROV_ASTERISK_PJSIP is off.")
    try:
        age = time.time() - (settings.data_dir / SNAPSHOT_STAMP).stat().st_mtime
    except OSError:
        return failed(
            "No PJSIP export with secrets was made on this host: while the service is away, SIP "
            "phones cannot call.",
            _SNAPSHOT_STEP,
        )
    minutes = max(0, round(age / 60))
    if age > _OLD_SECONDS:
        return failed(f"The newest PJSIP export is {minutes} minutes old.", _SNAPSHOT_STEP)
    return ok(f"The newest PJSIP export is {minutes} minutes old.")
