"""Import and export of records as tables; both require level 0."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from phoneprov_core.features.lines.model import prompts_of
from phoneprov_core.features.lines.use_cases import emergency_of_number
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.asterisk import Section, Sections
from phoneprov_core.features.transfer.configurations import (
    PROFILES,
    TEMPLATES,
    ProfileRows,
    profile_row,
    template_row,
    write_template,
)
from phoneprov_core.features.transfer.importing import PIECE, Import
from phoneprov_core.features.transfer.model import (
    OWNER,
    Imported,
    Progress,
    RowProblem,
    Seen,
    Table,
    TransferTransaction,
    Write,
    import_whole,
    is_note,
    unseen,
    unwatched,
)
from phoneprov_core.features.transfer.people import (
    LINKS,
    PINS,
    LinkRows,
    PinRows,
    link_row,
    pin_hashes,
)
from phoneprov_core.features.transfer.sheets import SHEETS, USERS, Sheet
from phoneprov_core.inventory.extensions import CHAN_PJSIP, Extension, Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.locations import Locations, emergency_at
from phoneprov_core.inventory.phone_parts import Kems
from phoneprov_core.inventory.phones.model import speaks_sip
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import Clock, Listing, ReadAndWrite, Rows, listing
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.access import require_login
from phoneprov_core.people.directory.use_cases import CompanyDirectory, PersonalDirectory
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import VendorUsers

_MOST_BUTTONS = 1000


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Import and export of users, PINs, extensions, their links, phones, desks, KEMs, locations,
    directories, profiles and templates as tables. An import writes by the use cases of each
    kind. ``sounds`` are the languages that the exchange has prompts in."""

    database: ReadAndWrite[TransferTransaction]
    users: Users
    extensions: Extensions
    phones: Phones
    kems: Kems
    locations: Locations
    company_directory: CompanyDirectory
    personal_directory: PersonalDirectory
    pins: VendorUsers
    links: Links
    profile_use_cases: Profiles
    template_use_cases: Templates
    clock: Clock
    sounds: tuple[str, ...] = ()

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
        kind, ``NeedsLogin`` for PINs and a caller with an API token.
        """
        require_superadmin(actor)
        whole = WHOLE.get(kind)
        columns, names = await table.columns(), columns_in(kind)
        if whole is not None:
            wrong = wrong_columns(columns, names, whole.needed, further=whole.further)
        else:
            sheet = sheet_of(kind)
            wrong = wrong_columns(columns, names, sheet.needed, sheet.ignored)
        if wrong:
            return Imported(problems=wrong)
        if whole is not None:
            writing = await self._writing(actor, kind, table, dry_run=dry_run)
            return await import_whole(
                self.database, writing, actor, kind, table, progress, seen,
                dry_run=dry_run, keep_going=keep_going,
            )  # fmt: skip
        use_cases = getattr(self, kind.replace("-", "_"), None)  # none of desks
        run = Import(self.database, use_cases, actor, sheet, table, progress, seen)
        checked = await run.check()
        if dry_run or (checked.problems and not keep_going):
            return checked
        if sheet is USERS:
            await run.hash(checked)
        return await run.write(checked, keep_going=keep_going)

    async def _writing(
        self, actor: Actor, kind: str, table: Table, *, dry_run: bool
    ) -> Callable[[TransferTransaction], Write]:
        if kind == "pins":
            require_login(actor)
            hashes = {} if dry_run else await pin_hashes(table, self.pins.hasher)
            return lambda tx: PinRows(tx, self.pins, actor, hashes).write
        if kind == "user-extensions":
            return lambda tx: LinkRows(tx, self.links, actor).write
        if kind == "templates":
            return lambda tx: write_template(tx, self.template_use_cases, actor)
        return lambda tx: ProfileRows(tx, self.profile_use_cases, actor).write

    async def out(
        self, actor: Actor, kind: str, *, with_secrets: bool = False
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """The records of a kind as rows, oldest first, in pieces: values by the columns of
        ``columns_out(kind, ...)``, never passwords of users or PINs; profiles and templates with
        all that they contain. Raises ``NotFound``."""
        require_superadmin(actor)
        columns = columns_out(kind, with_secrets=with_secrets)
        if kind == "templates":
            pieces = (await self.template_use_cases.all(actor)).mapped(template_row)
        elif kind == "user-extensions":
            pieces = (await self.links.all(actor)).mapped(link_row)
        elif kind == "profiles":
            owners = await self._usernames()
            pieces = (await self.profile_use_cases.all(actor)).mapped(
                lambda one: profile_row(one, owners.get(one.user_uuid, ""))
            )
        else:
            sheet = sheet_of(kind)
            owners = await self._usernames() if sheet.owned else {}
            records = await self._records(sheet.store)
            pieces = records.mapped(lambda one: _row_of(one, columns, owners))
        async for piece in pieces:
            yield piece

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
        is_sccp = driver == "chan_sccp"
        async for extensions in await self._records(lambda tx: tx.extensions):
            for extension in extensions:
                if extension.is_active and extension.type == driver:
                    yield await self._section(sections, extension)
        async for phones in await self._records(lambda tx: tx.phones):
            for phone in phones:
                if phone.is_active and speaks_sip(phone.software_type) is not is_sccp:
                    numbers = await self._numbers_on(phone.mac, driver)
                    if is_sccp:
                        async with self.database.read() as tx:
                            emergency = await emergency_at(tx, phone)
                        yield sections.device(phone, numbers, emergency)
                    elif section := sections.phone_endpoint(phone, numbers):
                        yield section

    async def _section(self, sections: Sections, extension: Extension) -> Section:
        number, driver = extension.extension, extension.type
        async with self.database.read() as tx:
            language = await prompts_of(tx, number, driver, self.sounds)
            if driver != CHAN_PJSIP:
                return sections.line(extension, language)
            if await tx.lines.held(number, driver) is None:
                return sections.of_leaver(extension)
            emergency = await emergency_of_number(tx, number, timestamp(self.clock()))
        return sections.endpoint(extension, emergency, language)

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


WHOLE = {"pins": PINS, "user-extensions": LINKS, "profiles": PROFILES, "templates": TEMPLATES}
KINDS = (*SHEETS, *WHOLE)
"""The kinds of tables. All but PINs can be exported, of which only hashes are stored."""


def sheet_of(kind: str) -> Sheet:
    """The table of a kind of record. Raises ``NotFound``."""
    sheet = SHEETS.get(kind)
    if sheet is None:
        raise NotFound(f"There is no such table; use one of {', '.join(KINDS)}.")
    return sheet


def columns_in(kind: str) -> tuple[str, ...]:
    """The columns of an import. Raises ``NotFound``."""
    return WHOLE[kind].columns if kind in WHOLE else sheet_of(kind).columns


def columns_out(kind: str, *, with_secrets: bool = False) -> tuple[str, ...]:
    """The columns of an export. Raises ``NotFound``."""
    if kind == "pins":
        raise NotFound("PINs cannot be exported: only their hashes are stored.")
    if kind in WHOLE:
        return WHOLE[kind].columns
    return sheet_of(kind).leaving(with_secrets=with_secrets)


def wrong_columns(
    columns: tuple[str, ...],
    names: tuple[str, ...],
    needed: Iterable[str],
    ignored: Container[str] = (),
    further: str | None = None,
) -> tuple[RowProblem, ...]:
    """The problems of the columns of a table, whose known ones are ``names``, or begin with
    ``further``, and the ``ignored`` ones."""
    columns = tuple(name for name in columns if not is_note(name))
    wanted = f"the columns are {', '.join(names)}"
    if not columns:
        return (
            RowProblem(1, "", f"The table is empty: its first line names the columns; {wanted}"),
        )
    unknown = [
        name
        for name in dict.fromkeys(columns)
        if not (name in names or name in ignored or (further and name.startswith(further)))
    ]
    # The columns of a table are many: they are named once.
    wrong = [
        RowProblem(1, column, "is not a column of this table" + ("" if place else f"; {wanted}"))
        for place, column in enumerate(unknown)
    ]
    wrong += [
        RowProblem(1, column, "is there more than once")
        for column in sorted(name for name, count in Counter(columns).items() if count > 1)
    ]
    wrong += [
        RowProblem(1, column, "is a column that is needed")
        for column in sorted(set(needed).difference(columns))
    ]
    return tuple(wrong)


def _row_of(record: Any, columns: tuple[str, ...], owners: dict[str, str]) -> dict[str, Any]:
    return {
        column: owners.get(record.user_uuid, "")
        if column == OWNER and owners
        else getattr(record, column)
        for column in columns
    }
