"""A check of the whole installation: each finding with a next step."""

import asyncio
import shutil
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial

from phoneprov_adapters.asterisk.session import Answer, Session
from phoneprov_adapters.composition.adapters import OwnDatabase
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.doctor_lines import (
    SERVICE,
    CheckResult,
    Outcome,
    Verdict,
    answers,
    checked,
    compared,
    emergency_numbers,
    exported,
    failed,
    ok,
    skipped,
)
from phoneprov_adapters.composition.lifecycle import (
    prepare,
    require_installation,
    require_keys,
    require_schema,
)
from phoneprov_adapters.composition.settings import (
    Settings,
    SettingsError,
    check_names,
    read_settings,
)
from phoneprov_adapters.ftp.uploader import UNREADABLE, FtpUploader
from phoneprov_adapters.runtime.tasks import ordered_id
from phoneprov_adapters.security.keys import key_file
from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_adapters.sql.engines.revisions import UnfitSchema, newest
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.kernel.errors import NotWritable, PhoneprovError
from phoneprov_core.kernel.values import millis

_PHONES = 5
_SEARCHED = 200
_MOST_NAMED = 20
_CLOCK_SECONDS = 5
_FTP_SECONDS = 10.0
"""Servers delay the refusal of a wrong password; pyftpdlib by 3 seconds."""

_CORRECT = "Correct it; phoneprov settings shows all values."
_SEE_DATABASE = "See the finding on the database."

_NEEDED = frozenset({"pjsipnotify", "sccpdevicerestart"})
"""Actions that restart phones; ListCommands lists the actions that the account may use."""

_LEAST_FREE = 1024**3
_LEAST_SHARE = 0.05
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def examine(environment: Mapping[str, str], url: str = SERVICE) -> AsyncIterator[CheckResult]:
    """Check the installation that these variables describe. Changes nothing except for a test file
    on the FTP server, which is deleted. ``url`` is the address under which Asterisk reaches the
    service."""
    try:
        settings = read_settings(environment)
        check_names(settings)
        yield CheckResult("settings", *ok("All settings are valid."))
        require_installation(settings)
    except SettingsError as error:
        yield CheckResult("settings", *failed(str(error), _CORRECT))
        return
    file = key_file(settings.data_dir)
    if settings.secret_keys is None and not file.exists():
        # Continuing would create a new key.
        step = "Put the key file back from the backup, or set PHONEPROV_SECRET_KEYS."
        yield CheckResult("keys", *failed(f"There is no key file {file}.", step))
        return
    for name, outcome in _folder_and_disk(settings):
        yield CheckResult(name, *outcome)
    try:
        container = prepare(settings)
    except SettingsError as error:
        step = "Correct it; phoneprov keys status shows what is needed."
        yield CheckResult("keys", *failed(str(error), step))
        return
    try:
        container.use_cases()
    except SettingsError as error:
        yield CheckResult("adapters", *failed(str(error), _CORRECT))
        return
    async for finding in _database(container, url):
        yield finding
    step = "Check the settings PHONEPROV_FTP_... and the server."
    yield await checked("ftp", _server(container, step), step)
    step = "Check PHONEPROV_AMI_... and manager.conf of Asterisk."
    yield await checked("asterisk", _asterisk(container), step)


async def _database(container: Container, url: str) -> AsyncIterator[CheckResult]:
    database = container.database()
    checks: dict[str, tuple[Callable[[Container], Awaitable[Outcome]], str]] = {
        "schema": (_schema, "Grant the privileges, or restore a backup."),
        "keys": (_keys, "See docs/how-to/rotate-keys.md."),
        "clock": (_clock, _SEE_DATABASE),
        "phones": (_phones, _SEE_DATABASE),
        "fleet": (_fleet, _SEE_DATABASE),
        "leavers": (_leavers, _SEE_DATABASE),
        "exchange": (partial(answers, url=url), _SEE_DATABASE),
        "lines": (compared, "See docs/how-to/lines.md."),
        "emergency": (emergency_numbers, "See docs/how-to/emergency-calls.md."),
        "snapshot": (exported, "See docs/how-to/lines.md."),
    }
    opening = await checked("database", _opened(database), _database_step(container.settings()))
    yield opening
    impossible = opening.state is Verdict.FAILED and "The database is not available."
    try:
        for name, (check, step) in checks.items():
            if impossible:
                yield CheckResult(name, *skipped(impossible))
                continue
            finding = await checked(name, check(container), step)
            yield finding
            if check is _schema and finding.state is Verdict.FAILED:
                impossible = "The schema does not fit this version."
    finally:
        if opening.state is Verdict.OK:
            await database.close()


async def _opened(database: OwnDatabase) -> Outcome:
    await database.open()
    return ok("The database answers.")


def _database_step(settings: Settings) -> str:
    if embedded_file(settings.database_url) is not None:
        return "Check the disk and the owner of the file; if it is damaged, restore a backup."
    return "Start the server, or correct PHONEPROV_DATABASE_URL; the log names host and cause."


async def _schema(container: Container) -> Outcome:
    database = container.database()
    try:
        await require_schema(database)
        await database.require_privileges()
        await database.require_writable()
    except UnfitSchema as error:
        return failed(error.message, "See docs/how-to/upgrade.md.")
    except NotWritable as error:
        return failed(error.message, _database_step(container.settings()))
    return ok(f"The schema is {newest()}.")


async def _fleet(container: Container) -> Outcome:
    """Phones that are not as they are recorded."""
    if not container.settings().watch_minutes:
        return skipped("No phone is looked at: PHONEPROV_WATCH_MINUTES is 0.")
    async with container.database().read() as tx:
        states = (await tx.statistics.read()).fleet
    wrong = {state: count for state, count in states.items() if state != FleetState.FINE.value}
    if not wrong:
        return ok("Every phone is as it is recorded.")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(wrong.items()))
    # A phone that is off is no failure of the installation.
    return ok(f"Phones are not as recorded: {counts}; phoneprov fleet --state lists them.")


async def _leavers(container: Container) -> Outcome:
    """Phones that keep number and password of a user who left."""
    actor = container.use_cases().system_actor()
    macs = await container.lines().kept_by_leavers(actor)
    if not macs:
        return ok("No SIP phone has the configuration of a user who is inactive or deleted.")
    named = ", ".join(macs[:_MOST_NAMED]) + (", ..." if len(macs) > _MOST_NAMED else "")
    return failed(
        f"{len(macs)} SIP phones have the configuration of a user who is inactive or deleted, with "
        f"number and password: {named}",
        "Switch them to another profile, and give the extension another password or deactivate it.",
    )


async def _keys(container: Container) -> Outcome:
    await require_keys(container)
    return ok("Every stored secret can be read.")


async def _clock(container: Container) -> Outcome:
    async with container.database().read() as tx:
        theirs = await tx.statistics.clock()
    seconds = abs(millis(container.clock()()) - theirs) / 1000
    if seconds <= _CLOCK_SECONDS:
        return ok("This host and the database agree about the time.")
    return failed(
        f"This host and the database differ by {seconds:,.0f} seconds.",
        "Synchronize both with NTP: timedatectl shows the state.",
    )


async def _phones(container: Container) -> Outcome:
    async with container.database().read() as tx:
        found = await tx.phones.rows(_SEARCHED)
    asked = [phone for phone in found if phone.is_active and phone.phone_ip][:_PHONES]
    if not asked:
        return skipped("No active phone has an address.")
    reach = container.reachability()
    replies = await asyncio.gather(*(reach.phone(phone) for phone in asked))
    silent = [
        f" {phone.mac}: {reply.message}"
        for phone, reply in zip(asked, replies, strict=True)
        if not reply.reachable
    ]
    message = f"{len(asked) - len(silent)} of {len(asked)} phones that were asked answer."
    message += silent[0] if silent else ""
    if len(silent) < len(asked):
        return ok(message)
    return failed(
        message,
        "Check PHONEPROV_PHONE_NETWORKS and the route to the phones; web access must be on.",
    )


async def _server(container: Container, step: str) -> Outcome:
    settings = container.settings()
    if settings.uploader == "ftp" and settings.ftp.host is None:
        return skipped("Each phone is its own FTP server: PHONEPROV_FTP_HOST is not set.")
    reach = await container.reachability().server(None, _FTP_SECONDS)
    if reach.reachable is None:
        return skipped(reach.message)
    if not reach.reachable:
        return failed(reach.message, step)
    uploader = container.uploader()
    if not isinstance(uploader, FtpUploader):
        return ok(reach.message)
    try:
        notes = await uploader.try_upload(ordered_id())
    except PhoneprovError as error:
        return failed(f"{reach.message} The upload of a test file failed: {error.message}", step)
    message = " ".join([reach.message, "A test file was uploaded and deleted.", *notes])
    if any(UNREADABLE in note for note in notes):
        return failed(message, "Set the umask of the FTP server to 022.")
    return ok(message)


async def _asterisk(container: Container) -> Outcome:
    connection = container.ami()
    if connection is None:
        return skipped("PHONEPROV_AMI_HOST is not set.")
    answer, receives_events = await connection.run(_commands)
    if not answer.ok:
        return failed(answer.message, "Check manager.conf of Asterisk.")
    if _NEEDED.isdisjoint(answer.response):
        return failed(
            "The manager account may not restart phones, or neither res_pjsip_notify nor chan_sccp "
            "is loaded.",
            "Give the account write = system,reporting in manager.conf.",
        )
    if not receives_events:
        return failed(
            "The manager account does not receive the events of registrations.",
            "Give the account read = system,call in manager.conf.",
        )
    return ok("The login to the manager interface succeeds.")


async def _commands(session: Session) -> tuple[Answer, bool]:
    return await session.ask("ListCommands"), session.has_events


def _folder_and_disk(settings: Settings) -> Iterator[tuple[str, Outcome]]:
    folder = settings.data_dir.absolute()
    if not folder.exists():
        yield "folder", skipped(f"There is no data folder {folder}.")
        return
    if folder.stat().st_mode & _OTHERS:
        step = f"Run chmod 700 {folder}."
        yield "folder", failed(f"Other users can read the folder {folder}.", step)
    else:
        yield "folder", ok(f"Only its owner can read the folder {folder}.")
    usage = shutil.disk_usage(folder)
    free = f"{usage.free / 1024**3:,.1f} GiB of {usage.total / 1024**3:,.1f} GiB are free."
    if usage.free < _LEAST_FREE or usage.free < _LEAST_SHARE * usage.total:
        step = "Make room; phoneprov prune --dry-run shows what can be removed."
        yield "disk", failed(free, step)
    else:
        yield "disk", ok(free)
