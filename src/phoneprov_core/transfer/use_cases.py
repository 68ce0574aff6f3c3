"""Import and export of records as tables; both require level 0."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.extensions import Extensions
from phoneprov_core.kems import Kems
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.paging import Listing, listing
from phoneprov_core.kernel.store import ReadAndWrite, Rows
from phoneprov_core.phones.model import speaks_sip
from phoneprov_core.phones.use_cases import Phones
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.templates.use_cases import Templates
from phoneprov_core.transfer.asterisk import Section, Sections
from phoneprov_core.transfer.configurations import (
    TEMPLATE_COLUMNS,
    ProfileRows,
    import_whole,
    profile_row,
    write_template,
)
from phoneprov_core.transfer.importing import Import
from phoneprov_core.transfer.model import (
    OWNER,
    Imported,
    Progress,
    RowProblem,
    Seen,
    Table,
    TransferTransaction,
    unseen,
    unwatched,
)
from phoneprov_core.transfer.rows import PIECE
from phoneprov_core.transfer.sheets import SHEETS, USERS, Sheet
from phoneprov_core.users.use_cases import Users

_MOST_BUTTONS = 1000


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Import and export of users, extensions, phones, desks, KEMs and directories as tables. An
    import writes by the use cases of each kind."""

    database: ReadAndWrite[TransferTransaction]
    users: Users
    extensions: Extensions
    phones: Phones
    kems: Kems
    company_directory: CompanyDirectory
    personal_directory: PersonalDirectory
    profile_use_cases: Profiles
    template_use_cases: Templates

    async def into(
        self,
        actor: Actor,
        kind: str,
        table: Table,
        *,
        dry_run: bool = False,
        keep_going: bool = False,
        progress: Progress = unwatched,
        seen: Seen = unseen,
    ) -> Imported:
        """Import the rows of a table, each by the rules of its use case.

        Every row is checked before the first is written, and all rows are written in one
        transaction: if a row is invalid, nothing is written. With ``keep_going`` invalid rows are
        skipped and the others are written in several transactions. With ``dry_run`` nothing is
        written. Records that are not in the table do not change. Raises ``NotFound`` for an unknown
        kind.
        """
        require_superadmin(actor)
        sheet = sheet_of(kind)
        if wrong := _wrong_columns(sheet, await table.columns()):
            return Imported(problems=wrong)
        use_cases = getattr(self, kind.replace("-", "_"), None)  # none of desks
        run = Import(self.database, use_cases, actor, sheet, table, progress, seen)
        checked = await run.check()
        if dry_run or (checked.problems and not keep_going):
            return checked
        if sheet is USERS:
            await run.hash(checked)
        return await run.write(checked, keep_going=keep_going)

    async def profiles(
        self, actor: Actor, table: Table, *, progress: Progress = unwatched, **how: bool
    ) -> Imported:
        """Import profiles: rows with ``PROFILE_COLUMNS``, in one transaction; ``how`` as for
        ``import_whole``. A row changes the profile of its user with its name, or creates it."""
        require_superadmin(actor)
        return await import_whole(
            self.database,
            lambda tx: ProfileRows(tx, self.profile_use_cases, actor).write,
            actor, table, progress, **{"dry_run": False, "keep_going": False, **how},
        )  # fmt: skip

    async def templates(self, actor: Actor, table: Table, **how: bool) -> Imported:
        """Import templates: rows with ``TEMPLATE_COLUMNS``, as ``profiles``. A row changes the
        variant of its name, model and firmware family, or creates one."""
        require_superadmin(actor)
        return await import_whole(
            self.database,
            lambda tx: write_template(tx, self.template_use_cases, actor),
            actor, table, unwatched, **{"dry_run": False, "keep_going": False, **how},
        )  # fmt: skip

    async def out(
        self, actor: Actor, kind: str, *, with_secrets: bool = False
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """The records of a kind as rows, oldest first, in pieces: values by the columns of
        ``sheet_of(kind).leaving(...)``, never passwords of users. Raises ``NotFound``."""
        require_superadmin(actor)
        sheet = sheet_of(kind)
        columns = sheet.leaving(with_secrets=with_secrets)
        owners = await self._usernames() if sheet.owned else {}
        records = await self._records(sheet.store)
        async for piece in records:
            yield [_row_of(record, columns, owners) for record in piece]

    async def templates_out(self, actor: Actor) -> AsyncIterator[list[dict[str, Any]]]:
        """Every variant as a row with ``TEMPLATE_COLUMNS``, oldest first, in pieces."""
        async for piece in await self.template_use_cases.all(actor):
            yield [{name: getattr(one, name) for name in TEMPLATE_COLUMNS} for one in piece]

    async def profiles_out(self, actor: Actor) -> AsyncIterator[list[dict[str, Any]]]:
        """Every profile, with secrets, as a row of ``PROFILE_COLUMNS``, oldest first, in pieces."""
        require_superadmin(actor)
        owners = await self._usernames()
        async for piece in await self.profile_use_cases.all(actor):
            yield [profile_row(one, owners.get(one.user_uuid, "")) for one in piece]

    async def asterisk(
        self, actor: Actor, driver: str, *, with_secrets: bool = False, context: str = "default"
    ) -> AsyncIterator[Section]:
        """The active extensions of a channel driver and the active phones that speak its protocol,
        as sections of its file: ``sccp.conf`` or, for ``chan_pjsip``, ``pjsip.conf``. Raises
        ``NotFound`` for another driver, ``ValueError`` for an invalid context."""
        require_superadmin(actor)
        if driver not in {"chan_sccp", "chan_pjsip"}:
            raise NotFound("Files are available for chan_sccp and chan_pjsip only.")
        sections = Sections(with_secrets=with_secrets, context=context)
        make = sections.line if driver == "chan_sccp" else sections.endpoint
        async for extensions in await self._records(lambda tx: tx.extensions):
            for extension in extensions:
                if extension.is_active and extension.type == driver:
                    yield make(extension)
        is_sccp = driver == "chan_sccp"
        make_phone = sections.device if is_sccp else sections.phone_endpoint
        async for phones in await self._records(lambda tx: tx.phones):
            for phone in phones:
                if phone.is_active and speaks_sip(phone.software_type) is not is_sccp:
                    section = make_phone(phone, await self._numbers_on(phone.mac, driver))
                    if section is not None:
                        yield section

    async def _numbers_on(self, mac: str, driver: str) -> list[str]:
        async with self.database.read() as tx:
            deployment = await tx.deployments.current(mac)
            if deployment is None:
                return []
            links = await tx.links.extensions.rows(_MOST_BUTTONS, owner=deployment.owner_uuid)
        return [link.extension for link in links if link.type == driver]

    async def _records(self, store_in: Callable[[TransferTransaction], Rows[Any]]) -> Listing[Any]:
        return await listing(self.database.read, store_in, piece=PIECE)

    async def _usernames(self) -> dict[str, str]:
        users = await self._records(lambda tx: tx.users)
        return {user.uuid: user.username async for piece in users for user in piece}


def sheet_of(kind: str) -> Sheet:
    """The table of a kind of record. Raises ``NotFound``."""
    sheet = SHEETS.get(kind)
    if sheet is None:
        raise NotFound(f"There is no such table; use one of {', '.join(SHEETS)}.")
    return sheet


def is_note(column: str) -> bool:
    """Whether a column is for readers only, as those that the console adds to an export: its name
    is in parentheses. An import ignores it."""
    return column.startswith("(") and column.endswith(")")


def _wrong_columns(sheet: Sheet, columns: tuple[str, ...]) -> tuple[RowProblem, ...]:
    columns = tuple(name for name in columns if not is_note(name))
    known = {*sheet.columns, *sheet.ignored}
    wanted = f"the columns are {', '.join(sheet.columns)}"
    if not columns:
        return (
            RowProblem(1, "", f"The table is empty: its first line names the columns; {wanted}"),
        )
    unknown = [name for name in dict.fromkeys(columns) if name not in known]
    # The columns of a table are many: they are named once.
    wrong = [
        RowProblem(1, column, "is not a column of this table" + ("" if place else f"; {wanted}"))
        for place, column in enumerate(unknown)
    ]
    wrong += [
        RowProblem(1, column, "is there more than once")
        for column in sorted(name for name, count in Counter(columns).items() if count > 1)
    ]
    needed = {OWNER} if sheet.owned else set()
    if not sheet.by_content:
        needed |= set(sheet.identity)
    wrong += [
        RowProblem(1, column, "is a column that is needed")
        for column in sorted(needed.difference(columns))
    ]
    return tuple(wrong)


def _row_of(record: Any, columns: tuple[str, ...], owners: dict[str, str]) -> dict[str, Any]:
    return {
        column: owners.get(record.user_uuid, "")
        if column == OWNER and owners
        else getattr(record, column)
        for column in columns
    }
