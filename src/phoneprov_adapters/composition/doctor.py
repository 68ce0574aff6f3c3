"""A check of the whole installation: each finding with a next step."""

import asyncio
import shutil
import stat
from collections.abc import AsyncIterator, Iterator, Mapping

from phoneprov_adapters.asterisk.session import Answer, Session
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.doctor_lines import SERVICE, answers, compared
from phoneprov_adapters.composition.findings import CheckResult, Verdict, failed, ok
from phoneprov_adapters.composition.installation import require_installation, require_keys
from phoneprov_adapters.composition.lifecycle import prepare, require_schema
from phoneprov_adapters.composition.settings import (
    Settings,
    SettingsError,
    check_names,
    read_settings,
)
from phoneprov_adapters.ftp.uploader import UNREADABLE, FtpUploader
from phoneprov_adapters.runtime.system import ordered_id
from phoneprov_adapters.security.keys import key_file
from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_adapters.sql.engines.choice import OwnDatabase
from phoneprov_adapters.sql.engines.revisions import UnfitSchema, newest
from phoneprov_core.deployments.observation import Reach
from phoneprov_core.fleet.states import FleetState
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.system import millis
from phoneprov_core.phones.model import Phone

_PHONES = 5
_SEARCHED = 200
_CLOCK_SECONDS = 5
_FTP_SECONDS = 10.0
"""Servers delay the refusal of a wrong password; pyftpdlib by 3 seconds."""

_NEEDED = frozenset({"pjsipnotify", "sccpdevicerestart"})
"""Actions that restart phones; ListCommands lists those that the account may use."""

_LEAST_FREE = 1024**3
_LEAST_SHARE = 0.05
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def examine(environment: Mapping[str, str], url: str = SERVICE) -> AsyncIterator[CheckResult]:
    """Check the installation that these variables describe. Changes nothing but for a test file
    on the FTP server, which is deleted. ``url`` is that of the service as Asterisk reaches it."""
    try:
        settings = read_settings(environment)
        check_names(settings)
        yield ok("settings", "All settings are valid.")
        require_installation(settings)
    except SettingsError as error:
        yield failed("settings", str(error), "Correct it; phoneprov settings shows all values.")
        return
    if settings.secret_keys is None and not key_file(settings.data_dir).exists():
        # Continuing would create a new key.
        yield failed(
            "keys",
            f"There is no key file {key_file(settings.data_dir)}.",
            "Put the key file back from the backup, or set PHONEPROV_SECRET_KEYS.",
        )
        return
    for finding in _folder_and_disk(settings):
        yield finding
    try:
        container = prepare(settings)
    except SettingsError as error:
        yield failed("keys", str(error), "Correct it; phoneprov keys status shows what is needed.")
        return
    try:
        container.use_cases()
    except SettingsError as error:
        yield failed("adapters", str(error), "Correct it; phoneprov settings shows all values.")
        return
    async for finding in _database(container, url):
        yield finding
    yield await _server(container)
    yield await _asterisk(container)


async def _database(container: Container, url: str) -> AsyncIterator[CheckResult]:
    database = container.database()
    try:
        await database.open()
    except PhoneprovError as error:
        yield failed("database", error.message, _database_step(container.settings()))
        for check in ("schema", "keys", "clock", "phones", "fleet", "exchange", "lines"):
            yield CheckResult(check, Verdict.SKIPPED, "The database is not available.")
        return
    try:
        yield ok("database", "The database answers.")
        schema = await _schema(database)
        yield schema
        if schema.state is Verdict.FAILED:
            for check in ("keys", "clock", "phones", "fleet", "exchange", "lines"):
                yield CheckResult(check, Verdict.SKIPPED, "The schema does not fit this version.")
            return
        yield await _keys(container)
        yield await _clock(container)
        yield await _phones(container)
        yield await _fleet(container)
        yield await answers(container, url)
        yield await compared(container)
    finally:
        await database.close()


def _database_step(settings: Settings) -> str:
    if embedded_file(settings.database_url) is not None:
        return "Check the disk and the owner of the file; if it is damaged, restore a backup."
    return "Start the server, or correct PHONEPROV_DATABASE_URL; the log names host and cause."


async def _schema(database: OwnDatabase) -> CheckResult:
    try:
        await require_schema(database)
        await database.require_privileges()
    except UnfitSchema as error:
        return failed("schema", error.message, "See docs/how-to/upgrade.md.")
    except PhoneprovError as error:
        return failed("schema", error.message, "Grant the privileges, or restore a backup.")
    return ok("schema", f"The schema is {newest()}.")


async def _fleet(container: Container) -> CheckResult:
    """Phones that are not as they are recorded."""
    if not container.settings().watch_minutes:
        return CheckResult(
            "fleet", Verdict.SKIPPED, "No phone is looked at: PHONEPROV_WATCH_MINUTES is 0."
        )
    try:
        async with container.database().read() as tx:
            states = (await tx.statistics.read()).fleet
    except PhoneprovError as error:
        return failed("fleet", error.message, "See the finding on the database.")
    wrong = {state: count for state, count in states.items() if state != FleetState.FINE.value}
    if not wrong:
        return ok("fleet", "Every phone is as it is recorded.")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(wrong.items()))
    # A phone that is off is no failure of the installation.
    return ok("fleet", f"Phones are not as recorded: {counts}; phoneprov fleet --state lists them.")


async def _keys(container: Container) -> CheckResult:
    try:
        await require_keys(container)
    except (SettingsError, PhoneprovError) as error:
        return failed("keys", str(error), "See docs/how-to/rotate-keys.md.")
    return ok("keys", "Every stored secret can be read.")


async def _clock(container: Container) -> CheckResult:
    try:
        async with container.database().read() as tx:
            theirs = await tx.statistics.clock()
    except PhoneprovError as error:
        return failed("clock", error.message, "See the finding on the database.")
    ours = millis(container.clock()())
    seconds = abs(ours - theirs) / 1000
    if seconds <= _CLOCK_SECONDS:
        return ok("clock", "This host and the database agree about the time.")
    return failed(
        "clock",
        f"This host and the database differ by {seconds:,.0f} seconds.",
        "Synchronize both with NTP: timedatectl shows the state.",
    )


async def _phones(container: Container) -> CheckResult:
    try:
        async with container.database().read() as tx:
            found = await tx.phones.rows(_SEARCHED)
    except PhoneprovError as error:
        return failed("phones", error.message, "See the finding on the database.")
    asked = [phone for phone in found if phone.is_active and phone.phone_ip][:_PHONES]
    if not asked:
        return CheckResult("phones", Verdict.SKIPPED, "No active phone has an address.")
    reach = container.reachability()
    replies = await asyncio.gather(*(reach.phone(phone) for phone in asked))
    silent = [
        (phone, reply) for phone, reply in zip(asked, replies, strict=True) if not reply.reachable
    ]
    message = f"{len(asked) - len(silent)} of {len(asked)} phones that were asked answer."
    if len(silent) < len(asked):
        return ok("phones", message + _first(silent))
    return failed(
        "phones",
        message + _first(silent),
        "Check PHONEPROV_PHONE_NETWORKS and the route to the phones; web access must be on.",
    )


def _first(silent: list[tuple[Phone, Reach]]) -> str:
    return f" {silent[0][0].mac}: {silent[0][1].message}" if silent else ""


async def _server(container: Container) -> CheckResult:
    settings = container.settings()
    if settings.uploader == "ftp" and settings.ftp.host is None:
        return CheckResult(
            "ftp",
            Verdict.SKIPPED,
            "Each phone is its own FTP server: PHONEPROV_FTP_HOST is not set.",
        )
    reach = await container.reachability().server(None, _FTP_SECONDS)
    if reach.reachable is None:
        return CheckResult("ftp", Verdict.SKIPPED, reach.message)
    advice = "Check the settings PHONEPROV_FTP_... and the server."
    if not reach.reachable:
        return failed("ftp", reach.message, advice)
    uploader = container.uploader()
    if not isinstance(uploader, FtpUploader):
        return ok("ftp", reach.message)
    try:
        notes = await uploader.try_upload(ordered_id())
    except PhoneprovError as error:
        return failed(
            "ftp", f"{reach.message} The upload of a test file failed: {error.message}", advice
        )
    message = " ".join([reach.message, "A test file was uploaded and deleted.", *notes])
    if any(UNREADABLE in note for note in notes):
        return failed("ftp", message, "Set the umask of the FTP server to 022.")
    return ok("ftp", message)


async def _asterisk(container: Container) -> CheckResult:
    connection = container.ami()
    if connection is None:
        return CheckResult("asterisk", Verdict.SKIPPED, "PHONEPROV_AMI_HOST is not set.")
    try:
        answer, receives_events = await connection.run(_commands)
    except PhoneprovError as error:
        return failed(
            "asterisk", error.message, "Check PHONEPROV_AMI_... and manager.conf of Asterisk."
        )
    if not answer.ok:
        return failed("asterisk", answer.message, "Check manager.conf of Asterisk.")
    if _NEEDED.isdisjoint(answer.response):
        return failed(
            "asterisk",
            "The manager account may not restart phones, or neither res_pjsip_notify nor chan_sccp "
            "is loaded.",
            "Give the account write = system,reporting in manager.conf.",
        )
    if not receives_events:
        return failed(
            "asterisk",
            "The manager account does not receive the events of registrations.",
            "Give the account read = system,call in manager.conf.",
        )
    return ok("asterisk", "The login to the manager interface succeeds.")


async def _commands(session: Session) -> tuple[Answer, bool]:
    return await session.ask("ListCommands"), session.has_events


def _folder_and_disk(settings: Settings) -> Iterator[CheckResult]:
    folder = settings.data_dir.absolute()
    if not folder.exists():
        yield CheckResult("folder", Verdict.SKIPPED, f"There is no data folder {folder}.")
        return
    if folder.stat().st_mode & _OTHERS:
        yield failed(
            "folder", f"Other users can read the folder {folder}.", f"Run chmod 700 {folder}."
        )
    else:
        yield ok("folder", f"Only its owner can read the folder {folder}.")
    usage = shutil.disk_usage(folder)
    free = f"{usage.free / 1024**3:,.1f} GiB of {usage.total / 1024**3:,.1f} GiB are free."
    if usage.free < _LEAST_FREE or usage.free < _LEAST_SHARE * usage.total:
        yield failed(
            "disk", free, "Make room; phoneprov prune --dry-run shows what can be removed."
        )
    else:
        yield ok("disk", free)
