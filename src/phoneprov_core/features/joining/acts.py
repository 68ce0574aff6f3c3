"""One act for several people: its transaction, its use cases, and the phones after it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Struct
from msgspec.structs import replace as with_fields

from phoneprov_core.features.desks.upkeep import KeepDesks
from phoneprov_core.features.joining.model import (
    ACT,
    ActRefused,
    ActStep,
    DryRunEnded,
    Joiner,
    JoiningTransaction,
    Moved,
    MovedPerson,
    Noted,
)
from phoneprov_core.features.joining.tables import Listed
from phoneprov_core.features.templates.use_cases import Templates
from phoneprov_core.features.transfer.model import Joined
from phoneprov_core.inventory.extensions import Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.phones.model import Phone as InventoryPhone
from phoneprov_core.inventory.profiles.model import SwitchRequest
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import (
    AlreadyExists,
    Contended,
    NotFound,
    PhoneprovError,
    Problem,
    Unavailable,
)
from phoneprov_core.kernel.ports import NewId, ReadAndWrite
from phoneprov_core.people.directory.use_cases import CompanyDirectory
from phoneprov_core.people.users.model import User
from phoneprov_core.people.users.use_cases import Users
from phoneprov_core.people.vendor_users import VendorUsers
from phoneprov_core.switching.deployments.deploy import SwitchProfile
from phoneprov_core.switching.deployments.model import RESTARTED, Deployment, Outcome
from phoneprov_core.switching.deployments.ports import current_of

_TRIES = 3
_PHONES_AT_ONCE = 4
_LONGEST = 255


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The use cases that an act consists of. ``new_pin`` makes the digits of a PIN,
    ``new_password`` the password of an extension."""

    users: Users
    extensions: Extensions
    links: Links
    pins: VendorUsers
    profiles: Profiles
    company_directory: CompanyDirectory
    templates: Templates
    new_pin: Callable[[], str]
    new_password: Callable[[], str]

    def within(self, tx: JoiningTransaction) -> "Parts":
        """The use cases as parts of an open transaction."""
        database: Any = Joined(tx)
        return replace(
            self,
            users=replace(self.users, database=database),
            extensions=replace(self.extensions, database=database),
            links=replace(self.links, database=database),
            pins=replace(self.pins, database=database),
            profiles=replace(self.profiles, database=database),
            templates=replace(self.templates, database=database),
            company_directory=replace(self.company_directory, database=database),
        )


class Phone(Struct, frozen=True):
    """A phone that gets its default profile when the records are written. ``why_not`` is the reason
    why the phone is not changed, ``is_due`` whether a logout is due there, ``left_by`` the account
    whose configuration is removed from the phone, ``called`` the phone's name and MAC for
    messages."""

    mac: str
    called: str
    profile_uuid: str | None = None
    why_not: ActStep | None = None
    is_due: bool = False
    left_by: str | None = None


class Written(Struct, frozen=True):
    """The changes for one person, and the phones that are called after the transaction. ``is_new``
    is whether the account was created."""

    person: MovedPerson
    phones: tuple[Phone, ...] = ()
    is_new: bool = False


@dataclass(frozen=True, kw_only=True)
class Acts:
    """Carries out acts: the records of all people in one transaction, then the phones."""

    database: ReadAndWrite[JoiningTransaction]
    parts: Parts
    switch: SwitchProfile
    keep_desks: KeepDesks
    new_id: NewId

    async def __call__(
        self,
        actor: Actor,
        listed: Listed,
        write: Callable[[JoiningTransaction, Parts, str, int, Any], Awaitable[Written]],
        held: Callable[[JoiningTransaction], Awaitable[None]] | None = None,
        *,
        dry_run: bool,
    ) -> Moved:
        """Write the records of all people, or of none, then call the phones. ``held`` locks the
        accounts of the act; ``write`` gets the act, the position of the person and the person.
        Raises ``ActRefused`` with every problem that is known before the first conflict in the
        database."""
        for left in reversed(range(_TRIES)):
            try:
                act, written = await self._written(actor, listed, write, held, dry_run=dry_run)
                break
            except Contended:
                if not left:
                    raise
            except _Taken as taken:
                # A faster request has the number or the name; the next try knows it.
                if not left:
                    raise ActRefused(tuple(taken.problems)) from None
        has_changed = act is not None
        if dry_run:
            moved = [self._foretold(one) for one in written]
        else:
            turns = asyncio.Semaphore(_PHONES_AT_ONCE)
            moved = await asyncio.gather(*(self._called(actor, one, turns) for one in written))
        is_written = has_changed and not dry_run
        return Moved(None if dry_run else act, is_written, tuple(moved), listed.unread)

    async def _written(
        self,
        actor: Actor,
        listed: Listed,
        write: Callable[[JoiningTransaction, Parts, str, int, Any], Awaitable[Written]],
        held: Callable[[JoiningTransaction], Awaitable[None]] | None,
        *,
        dry_run: bool,
    ) -> tuple[str | None, list[Written]]:
        act, problems = self.new_id(), list[Problem]()
        written: list[Written] = []
        has_changed = False
        try:
            async with self.database.write(by=actor) as tx:
                if held is not None:
                    await held(tx)
                parts = self.parts.within(tx)
                for number, one in enumerate(listed.people):
                    try:
                        written.append(await write(tx, parts, act, number, one))
                        await tx.flush()
                    except AlreadyExists as conflict:
                        raise _Taken([*problems, *_problems(listed, number, conflict)]) from None
                    except Unavailable:
                        raise
                    except PhoneprovError as error:
                        problems += _problems(listed, number, error)
                if problems:
                    raise ActRefused(tuple(problems))
                has_changed = any(
                    step.outcome == "done" for one in written for step in one.person.steps
                )
                if dry_run:
                    raise DryRunEnded
        except DryRunEnded:
            pass
        return act if has_changed else None, written

    def _foretold(self, written: Written) -> MovedPerson:
        """The person of a dry run: no account was created, no phone called."""
        steps = [
            one.why_not or ActStep("phone", "pending", f"{one.called} gets its default profile.")
            for one in written.phones
            if one.why_not or one.profile_uuid or one.is_due
        ]
        person = written.person
        uuid = None if written.is_new else person.user_uuid
        return with_fields(person, steps=(*person.steps, *steps), pin=None, user_uuid=uuid)

    async def _called(
        self, actor: Actor, written: Written, turns: asyncio.Semaphore
    ) -> MovedPerson:
        steps = []
        for phone in written.phones:
            async with turns:
                steps.append(phone.why_not or await self._put(actor, phone))
        return with_fields(written.person, steps=(*written.person.steps, *steps))

    async def _put(self, actor: Actor, phone: Phone) -> ActStep:
        """Give a phone its default profile. Does not raise errors of the phone or a server, because
        the records are written already."""
        mac, called = phone.mac, phone.called
        try:
            if phone.is_due:
                return await self._settled(actor, phone)
            if phone.profile_uuid is None:
                return ActStep(
                    "phone", "kept", f"{called} keeps its configuration: it has no default profile."
                )
            current = await self._on(mac)
            if current and current.profile_uuid == phone.profile_uuid and _is_there(current):
                return ActStep("phone", "unchanged", f"{called} has the profile already.")
            request = SwitchRequest(profile_uuid=phone.profile_uuid, mac=mac)
            made = await self.switch.deployment(actor, request)
        except PhoneprovError as error:
            return ActStep("phone", "failed", f"{called}: {error.message}", mac, phone.profile_uuid)
        if _is_there(made):
            return ActStep("phone", "done", f"{called} has the profile {made.profile_name}.")
        return await self._not_restarted(actor, phone, made)

    async def _on(self, mac: str) -> Deployment | None:
        async with self.database.read() as tx:
            phone = await tx.phones.find(mac)
            return await current_of(tx.deployments, phone) if phone else None

    async def _not_restarted(self, actor: Actor, phone: Phone, made: Deployment) -> ActStep:
        """Record that the phone still runs the configuration of a person who left."""
        if phone.left_by is not None:
            async with self.database.write(by=actor) as tx:
                desk = await tx.desks.find(phone.mac)
                if desk.user_uuid is None:
                    await tx.desks.put(with_fields(desk, left_user_uuid=phone.left_by))
        text = f"{phone.called} has the file, but: {made.restart}"
        return ActStep("phone", "failed", text, phone.mac, made.profile_uuid)

    async def _settled(self, actor: Actor, phone: Phone) -> ActStep:
        """Log the phone out. The service tries again later if that fails."""
        await self.keep_desks.settle(phone.mac)
        async with self.database.read() as tx:
            desk = await tx.desks.find(phone.mac)
        if desk.due is not None or desk.change_uuid is not None:
            message = f"{phone.called} is not logged out yet; the service repeats it until it is."
            return ActStep("phone", "pending", message)
        if desk.default_profile_uuid is None:
            message = f"{phone.called} is logged out; it keeps its file: it has no default profile."
            return ActStep("phone", "kept", message)
        made = await self._on(phone.mac)
        if made and not _is_there(made):
            return await self._not_restarted(actor, phone, made)
        return ActStep(
            "phone", "done", f"{phone.called} is logged out and has its default profile."
        )


def _is_there(made: Deployment) -> bool:
    """Whether the file is certainly in place, and the phone was restarted."""
    return made.outcome is Outcome.DEPLOYED and made.restart in {None, RESTARTED}


class _Taken(Exception):
    """A conflict in the database, after which the transaction cannot be used."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def _problems(listed: Listed, number: int, error: PhoneprovError) -> list[Problem]:
    own = error.problems or (Problem("", _as_end(error.message)),)
    return listed.problems(number, own)


def _as_end(message: str) -> str:
    return f"cannot be moved: {message.removesuffix('.')}"


def event(act: str, action: str, values: Noted) -> Event:
    """The audit entry of one person of an act; the entries of an act have it as their resource."""
    return Event(f"person.{action}", ACT, act, values)


async def hold(tx: JoiningTransaction, users: Iterable[str]) -> None:
    """Lock accounts, in the order of their uuids: two acts with the same people do not deadlock."""
    for uuid in sorted({*users}):
        await tx.users.find(uuid)


def called(phone: InventoryPhone | None, mac: str) -> str:
    """A phone in a sentence: the name first."""
    return f"{phone.name} ({mac})" if phone is not None and phone.name else mac


def name_of(person: User | Joiner) -> str:
    """The name of the person's extension, profile and directory entry."""
    return f"{person.first_name} {person.last_name}"[:_LONGEST].rstrip()


async def require_named(tx: JoiningTransaction, username: str, field: str = "username") -> Any:
    """The account of this name, which no other transaction changes until this one ends. Raises
    ``NotFound`` with the field."""
    user = await tx.users.by_username(username)
    user = user and await tx.users.find(user.uuid)
    if user is None:
        problem = Problem(field, "is the name of no user")
        raise NotFound("There is no such user.", problems=(problem,))
    return user
