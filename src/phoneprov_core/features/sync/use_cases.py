"""Lets accounts, and the company directory, follow the people of a directory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import UNSET, structs

from phoneprov_core.features.sync.model import (
    USER,
    Directory,
    DirectoryKey,
    Names,
    Synced,
    SyncedPerson,
    SyncOptions,
    SyncRefused,
    SyncTransaction,
    settled,
)
from phoneprov_core.features.sync.reading import (
    Contacts,
    People,
    Person,
    Want,
    differs,
    every,
    fields_set,
    people_of,
)
from phoneprov_core.features.transfer.model import (
    Joined,
    RowProblem,
    problems_of,
)
from phoneprov_core.kernel.actor import Actor, Event, require_superadmin
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import AlreadyExists, Invalid
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import caseless, millis
from phoneprov_core.people.access import LastSuperadmin
from phoneprov_core.people.directory.use_cases import CompanyDirectory
from phoneprov_core.people.users.model import ImportedUser, User, UserPatch
from phoneprov_core.people.users.use_cases import Users

ANOTHER_SYNC = "Another import of users is running; try again when it has ended."
_ALWAYS_ALLOWED = 5
_TRIES = 3
_STAYS = "stays active: no other active account holds level 0"


class _Undone(Exception):
    """The transaction of a dry run is rolled back."""

    def __init__(self, result: Synced) -> None:
        super().__init__()
        self.result = result


@dataclass
class _Plan:
    """What a sync changes. ``own`` are the accounts of the source by key, ``held`` what every
    account is called now, ``left`` the accounts of missing people, ``stay`` accounts that cannot be
    deactivated."""

    keys: list[DirectoryKey]
    users: dict[str, User]
    own: dict[str, User]
    held: dict[str, Names] = field(default_factory=dict)
    wants: dict[str, Want] = field(default_factory=dict)
    problems: list[RowProblem] = field(default_factory=list)
    left: list[User] = field(default_factory=list)
    kept: int = 0
    stay: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class SyncPeople:
    """People of a directory as accounts; needs level 0."""

    database: ReadAndWrite[SyncTransaction]
    users: Users
    company_directory: CompanyDirectory
    clock: Clock

    async def __call__(self, actor: Actor, directory: Directory, options: SyncOptions) -> Synced:
        """Create, change, deactivate and activate the accounts of the source.

        A person is matched by key only. What the directory does not tell, and accounts of no key
        of this source, do not change. A missing person is deactivated, never the last account that
        holds level 0; while an entry has no key, no person counts as missing. A wrong entry is left
        out; everything else is written in one transaction.

        Raises ``SyncRefused`` if the input is empty or not complete, or if more people than the
        options allow would be deactivated or renamed; ``Invalid`` for unknown fields, and if no
        entry has a key; ``AlreadyExists`` while other requests take the names.
        """
        require_superadmin(actor)
        found = await people_of(directory, options.attributes)
        if not found.total:
            raise SyncRefused("Nothing was written: the input is empty.")
        for left in reversed(range(_TRIES)):
            try:
                return await self._once(actor, found, options)
            except AlreadyExists:
                # A request that was faster has the name; the next plan knows it.
                if not left:
                    raise
        raise AssertionError

    async def _once(self, actor: Actor, found: People, options: SyncOptions) -> Synced:
        if not found.people:
            return Synced(False, found.total, problems=tuple(found.problems))
        try:
            async with self.database.write(by=actor) as tx:
                if not await tx.claim_import("users"):
                    raise SyncRefused(f"Nothing was written. {ANOTHER_SYNC}")
                plan = await self._plan(tx, found, options)
                contacts = await Contacts.of(tx, plan.keys, plan.wants, found, options)
                plan.problems += contacts.problems
                await self._write(tx, actor, plan, options)
                joined: Any = Joined(tx)
                await contacts.write(tx, actor, replace(self.company_directory, database=joined))
                await tx.flush()
                result = _result(plan, found, len(contacts.changed), written=not options.dry_run)
                if options.dry_run:
                    raise _Undone(result)
                await tx.directory_keys.finished(options.source, millis(self.clock()))
                tx.trail.note(Event("sync.finished", "source", options.source, _counts(result)))
        except _Undone as undone:
            return undone.result
        return result

    async def _plan(self, tx: SyncTransaction, found: People, options: SyncOptions) -> _Plan:
        keys = await tx.directory_keys.all()
        users = {user.uuid: user async for user in every(tx.users)}
        own = {
            one.key: users[one.record_uuid]
            for one in keys
            if one.kind == USER and one.source == options.source and one.record_uuid in users
        }
        plan = _Plan(keys, users, own, problems=list(found.problems))
        held = {user.uuid: self._names(user.username, user.email) for user in users.values()}
        plan.held = held
        await self._want(tx, plan, found, options)
        missing = [user for key, user in own.items() if key not in found.keys and user.is_active]
        if options.missing_ == "deactivate" and not found.has_unknown:
            plan.left = missing
        else:
            plan.kept = len(missing)
        _require_few(plan, options)
        return plan

    async def _want(
        self, tx: SyncTransaction, plan: _Plan, found: People, options: SyncOptions
    ) -> None:
        """Find the account of each person, and leave out people whose names are taken."""
        keyed = {one.record_uuid: one.source for one in plan.keys if one.kind == USER}
        by_name = {caseless(user.username): user for user in plan.users.values()}
        wants: dict[str, Want] = {}
        for person in found.people:
            user = plan.own.get(person.key)
            adopted = None
            if user is None and options.adopt:
                adopted = by_name.get(caseless(str(person.values.get("username", ""))))
                adopted = None if adopted is None or adopted.uuid in keyed else adopted
            try:
                want = self._wanted(person, user or adopted, is_adopted=adopted is not None)
                name = want.username
                uuid = want.user.uuid if want.user else self.users.new_id()
                is_new_name = want.user is None or caseless(name) != caseless(want.user.username)
                if is_new_name and name.isdigit() and await tx.extensions.is_of_another(name, uuid):
                    plan.problems.append(
                        RowProblem(person.line, "username", "is the number of an extension")
                    )
                    continue
            except Invalid as error:
                plan.problems += problems_of(person.line, error)
                continue
            wants[uuid] = want

        def clash(uuid: str, name: str, holder: str) -> None:
            message = "is in use by another person of the input"
            if holder in plan.users and holder not in wants:
                source = keyed.get(holder)
                message = f"is in use by an account of the source {source}"
                if source is None:
                    message = (
                        "is in use by an account of no source (--adopt links the same username)"
                    )
            plan.problems.append(RowProblem(wants[uuid].person.line, name, message))

        names = {uuid: self._names(want.username, want.email) for uuid, want in wants.items()}
        plan.wants = {uuid: wants[uuid] for uuid in settled(plan.held, names, clash)}

    def _wanted(self, person: Person, user: User | None, *, is_adopted: bool) -> Want:
        policy = self.users.policy
        if user is None:
            new = command_of(ImportedUser, person.values, policy.rules_of_new)
            return Want(person, None, new)
        is_renamed = person.values.get("username", user.username) != user.username
        rules = policy.rules_of_new if is_renamed else policy.rules
        patch = command_of(UserPatch, person.values, rules)
        changed = {name: UNSET for name in fields_set(patch) if not differs(patch, user, name)}
        return Want(person, user, structs.replace(patch, **changed), is_adopted)

    def _names(self, username: str, email: str) -> Names:
        looks = self.users.policy.looks(username)
        # A look is compared with looks alone; no name has a line break.
        alike = (f"\n{look}" for look in looks)
        return {"username": (caseless(username), *alike), "email": (caseless(email),)}

    async def _write(
        self, tx: SyncTransaction, actor: Actor, plan: _Plan, options: SyncOptions
    ) -> None:
        joined: Any = Joined(tx)
        users = replace(self.users, database=joined)
        await self._park(tx, plan)
        renamed = sorted(plan.wants.items(), key=lambda one: one[1].user is None)
        for uuid, want in renamed:
            if isinstance(want.command, ImportedUser):
                created = await users.create(actor, want.command)
                uuid = created.uuid  # noqa: PLW2901
            elif fields_set(want.command):
                await self._change(users, actor, want, plan)
            if want.person.key not in plan.own:
                key = DirectoryKey(options.source, want.person.key, USER, uuid)
                await tx.directory_keys.put(key)
            if want.adopted:
                tx.trail.note(Event("sync.adopted", "user", uuid, {"source": options.source}))
        for user in plan.left:
            await self._deactivate(users, actor, user, 0, plan)
        for key in plan.keys:
            is_own = key.source == options.source and key.kind == USER
            if is_own and key.record_uuid not in plan.users and key.key not in _used(plan):
                await tx.directory_keys.remove(key)

    async def _change(self, users: Users, actor: Actor, want: Want, plan: _Plan) -> None:
        assert want.user is not None
        assert isinstance(want.command, UserPatch)
        patch = want.command
        if patch.is_active is False:
            patch = structs.replace(patch, is_active=UNSET)
            await self._deactivate(users, actor, want.user, want.person.line, plan)
        if fields_set(patch):
            await users.update(actor, want.user.uuid, patch)

    async def _deactivate(
        self, users: Users, actor: Actor, user: User, line: int, plan: _Plan
    ) -> None:
        try:
            await users.update(actor, user.uuid, UserPatch(is_active=False))
        except LastSuperadmin:
            plan.stay.add(user.uuid)
            plan.problems.append(RowProblem(line, "", f"{user.username} {_STAYS}"))

    async def _park(self, tx: SyncTransaction, plan: _Plan) -> None:
        """Take the names from people who give them to another person in this run: of two people who
        swap them, one would be in the way of the other."""
        holders = {
            (name, value): uuid for uuid, names in plan.held.items()
            for name, values in names.items() for value in values
        }  # fmt: skip
        parked: dict[str, set[str]] = {}
        for uuid, want in plan.wants.items():
            for name, values in self._names(want.username, want.email).items():
                for value in values:
                    if (holder := holders.get((name, value), uuid)) != uuid:
                        parked.setdefault(holder, set()).add(name)
        for holder, fields in parked.items():
            texts = {"username": f"moved-{holder}", "email": f"{holder}@moved.invalid"}
            user = structs.replace(plan.users[holder], **{name: texts[name] for name in fields})
            await tx.users.put(user)
            if "username" in fields:
                await tx.users.claim_looks(holder, self.users.policy.looks(user.username))


def _used(plan: _Plan) -> set[str]:
    return {want.person.key for want in plan.wants.values()}


def _require_few(plan: _Plan, options: SyncOptions) -> None:
    """Raises ``SyncRefused`` for more deactivated and renamed people than the options allow."""
    own = [user for user in plan.own.values() if user.is_active]
    uuids = {user.uuid for user in own}
    of_source = [want for uuid, want in plan.wants.items() if uuid in uuids]
    gone = {user.uuid for user in plan.left}
    gone |= {want.user.uuid for want in of_source if want.user and _is_disabled(want)}
    renamed = {
        want.user.uuid
        for want in of_source
        if want.user and caseless(want.username) != caseless(want.user.username)
    } - gone
    most = max(_ALWAYS_ALLOWED, len(own) * options.most // 100)
    if len(gone) + len(renamed) > most:
        raise SyncRefused(
            f"Nothing was written: {len(gone) + len(renamed)} of {len(own)} people of "
            f"{options.source} would be deactivated ({len(gone)}) or renamed ({len(renamed)}), "
            f"more than {most}."
        )


def _is_disabled(want: Want) -> bool:
    return isinstance(want.command, UserPatch) and want.command.is_active is False


def _result(plan: _Plan, found: People, contacts: int, *, written: bool) -> Synced:
    people = tuple(_of(want, plan.stay) for want in plan.wants.values())
    problems = tuple(sorted(plan.problems, key=lambda one: one.line))
    return Synced(
        written,
        found.total,
        tuple(sorted(people, key=lambda one: one.line)),
        tuple(user.username for user in plan.left if user.uuid not in plan.stay),
        plan.kept,
        contacts,
        problems,
    )


def _of(want: Want, stay: set[str]) -> SyncedPerson:
    if want.user is None:
        return SyncedPerson(want.person.line, want.username, "created")
    changes: Mapping[str, Any] = {
        name: {"old": getattr(want.user, name), "new": getattr(want.command, name)}
        for name in fields_set(want.command)
        if not (name == "is_active" and want.user.uuid in stay)
    }
    outcome: Any = "updated" if changes or want.adopted else "unchanged"
    return SyncedPerson(want.person.line, want.user.username, outcome, changes)


def _counts(result: Synced) -> dict[str, Any]:
    counts = {
        "created": result.count("created"),
        "updated": result.count("updated"),
        "unchanged": result.count("unchanged"),
        "deactivated": len(result.left),
        "kept": result.kept,
        "wrong": result.failed,
        "contacts": result.contacts,
    }
    return {name: number for name, number in counts.items() if number or name != "contacts"}
