"""People who leave: what they lose, what stays, and how an act is undone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.records import Due
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.joining.acts import Acts, Parts, Phone, Written, event, require_named
from phoneprov_core.features.joining.model import (
    ACT,
    ActStep,
    JoiningTransaction,
    Leaver,
    LeaveRequest,
    Moved,
    MovedPerson,
    UndoRequest,
)
from phoneprov_core.inventory.extensions import ExtensionPatch
from phoneprov_core.inventory.links import CreateLink, LinkedExtension
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, NotFound, Problem
from phoneprov_core.kernel.letters import caseless
from phoneprov_core.kernel.store import selected
from phoneprov_core.people.access import require_superadmin
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.directory.model import CompanyContactPatch, ContactSearch
from phoneprov_core.people.users.model import User, UserPatch

_MOST = 1000
_MOST_CONTACTS = 50
_MOST_ENTRIES = 200


@dataclass(frozen=True)
class LeavePeople:
    """People who leave; needs level 0."""

    acts: Acts

    async def __call__(self, actor: Actor, request: LeaveRequest) -> Moved:
        """Take from each person the account, the numbers, the desks and the directory entries, all
        in one transaction; then the phones get their default profiles.

        The account stays, inactive. Raises ``ActRefused`` with every problem; nothing is written
        then. A person who has left does not change.
        """
        require_superadmin(actor)

        async def write(
            tx: JoiningTransaction, parts: Parts, act: str, at: int, leaver: Leaver
        ) -> Written:
            first = next(
                i for i, one in enumerate(request.people)
                if caseless(one.username) == caseless(leaver.username)
            )  # fmt: skip
            if first != at:
                problem = Problem("username", f"is that of people[{first}] too")
                raise Conflict("This person is listed twice.", problems=(problem,))
            user = await require_named(tx, leaver.username)
            if user.uuid == actor.user_uuid:
                problem = Problem("username", "is your own account")
                raise Conflict("This is your own account.", problems=(problem,))
            leaving = _Leaving(tx, parts, actor, user)
            return await leaving.write(act, leaver, request.vacant_profile_uuid)

        return await self.acts(actor, request.people, write, dry_run=request.dry_run)


@dataclass
class _Leaving:
    """One person who leaves."""

    tx: JoiningTransaction
    parts: Parts
    actor: Actor
    user: User

    async def write(self, act: str, leaver: Leaver, vacant: str | None) -> Written:
        tx, user = self.tx, self.user
        links = await tx.links.extensions.rows(_MOST, owner=user.uuid)
        noted: dict[str, Any] = {
            "username": user.username, "user_uuid": user.uuid, "was_active": user.is_active,
            "vacant": vacant,
        }  # fmt: skip
        used = [one.mac for one in await tx.desks.of(user=user.uuid)]
        left = [one.mac for one in await tx.desks.unused(user.uuid)]
        steps = await self._numbers(links, leaver, noted)
        desk_steps, desks = await self._desks(vacant, noted)
        steps += desk_steps + await self._contacts({one.extension for one in links}, noted)
        if user.is_active:
            await self.parts.users.update(self.actor, user.uuid, UserPatch(is_active=False))
            steps.append(ActStep("account", "done", f"{user.username} is inactive."))
            ended = "No session and no API token of the account is valid any more."
            steps.append(ActStep("sessions", "done", ended))
        else:
            steps.append(ActStep("account", "unchanged", f"{user.username} was inactive."))
        steps += await self._kept()
        if any(one.outcome == "done" for one in steps):
            tx.trail.note(event(act, "left", noted))
        number = ", ".join(one.extension for one in links) or None
        phones = [await self._phone(mac) for mac in sorted({*used, *left, *desks})]
        return Written(
            MovedPerson(user.username, user.uuid, number, None, tuple(steps)), tuple(phones)
        )

    async def _numbers(
        self, links: Sequence[LinkedExtension], leaver: Leaver, noted: dict[str, Any]
    ) -> list[ActStep]:
        """Unlink the numbers. One that no other user and no desk has becomes free, or another
        person's; it gets another password, since the phone of the leaver has the old one."""
        tx, steps = self.tx, list[ActStep]()
        to = None
        if leaver.hand_over_to is not None:
            to = await require_named(tx, leaver.hand_over_to, "hand_over_to")
            if to.uuid == self.user.uuid or not to.is_active:
                problem = Problem("hand_over_to", "must be another account, which is active")
                raise Conflict("The numbers need another person.", problems=(problem,))
            noted["handed_to"] = to.uuid
        for link in links:
            number, uuid = link.extension, link.extension_uuid
            # Locks it, so that no other act takes it before this one ends.
            await tx.extensions.find(uuid)
            await self.parts.links.delete(self.actor, link.uuid)
            noted.setdefault("unlinked", []).append(uuid)
            others = await tx.links.users.rows(_MOST, owner=uuid)
            if to is not None and to.uuid not in {one.user_uuid for one in others}:
                new = CreateLink(user_uuid=to.uuid, extension_uuid=uuid)
                await self.parts.links.create(self.actor, new)
                noted.setdefault("handed", []).append(uuid)
            desk = await tx.desk_uses.with_number(uuid)
            if others or desk:
                who = ", ".join([*(one.username for one in others), *desk])
                also = f" and now {to.username}" if to is not None else ""
                text = f"{number} stays active with its password: {who} has it too{also}."
                steps.append(ActStep("number", "done", text))
                continue
            patch = ExtensionPatch(password=self.parts.new_password(), voicemail_passcode=None)
            text = f"{number} is {to.username}'s, with another password." if to else ""
            if to is None:
                patch = ExtensionPatch(
                    password=self.parts.new_password(), voicemail_passcode=None, is_active=False
                )
                noted.setdefault("freed", []).append(uuid)
                text = f"{number} is free: inactive, with another password."
            await self.parts.extensions.update(self.actor, uuid, patch)
            steps.append(ActStep("number", "done", text))
        return steps or [ActStep("number", "unchanged", "The person has no number.")]

    async def _desks(
        self, vacant: str | None, noted: dict[str, Any]
    ) -> tuple[list[ActStep], list[str]]:
        """Take the person's profiles from the desks that have them as default."""
        steps, macs = list[ActStep](), list[str]()
        for profile in await self.tx.profiles.rows(_MOST, owner=self.user.uuid):
            for mac in await self.tx.desk_uses.with_default(profile.uuid):
                await configure(self.tx, mac, DeskPatch(default_profile_uuid=vacant))
                macs.append(mac)
                noted.setdefault("desks", []).append(f"{mac} {profile.uuid}")
                what = "another default profile" if vacant else "no default profile"
                steps.append(ActStep("desk", "done", f"The desk {mac} has {what}."))
        return steps, macs

    async def _contacts(self, numbers: set[str], noted: dict[str, Any]) -> list[ActStep]:
        """Hide the person's entries of the company directory; name others with the number."""
        user, steps = self.user, list[ActStep]()
        name = f"{user.first_name} {user.last_name}"
        found: dict[str, Any] = {}
        for text in (user.email, *sorted(numbers)):
            rows = selected(self.tx.company_contacts, ContactSearch(q=text, is_active=True))
            found |= {one.uuid: one for one in await rows.rows(_MOST_CONTACTS)}
        for one in found.values():
            is_own = caseless(one.email or "") == caseless(user.email)
            if is_own or (one.work in numbers and one.name == name):
                patch = CompanyContactPatch(is_active=False)
                await self.parts.company_directory.update(self.actor, one.uuid, patch)
                noted.setdefault("contacts", []).append(one.uuid)
                steps.append(ActStep("directory", "done", f"{one.name} is hidden."))
            elif one.work in numbers:
                text = f"{one.name} stays in the directory with {one.work}."
                steps.append(ActStep("directory", "kept", text))
        return steps or [ActStep("directory", "unchanged", "The person has no entry.")]

    async def _kept(self) -> list[ActStep]:
        tx, uuid = self.tx, self.user.uuid
        counts = {
            "profile(s)": await tx.profiles.count(uuid),
            "personal contact(s)": await tx.personal_contacts.count(uuid),
        }
        kept = [f"{count} {name}" for name, count in counts.items() if count]
        if await tx.vendor_users.of_user(uuid) is not None:
            kept.append("the PIN, which no phone accepts while the account is inactive")
        if await tx.assignments.of_user(uuid) is not None:
            kept.append("the permission")
        return [ActStep("account", "kept", f"The account keeps {', '.join(kept)}.")] if kept else []

    async def _phone(self, mac: str) -> Phone:
        """The phone after the records: a logout that is due, else its default profile."""
        desk = await self.tx.desks.find(mac)
        if desk.user_uuid is not None:
            text = f"Another user is logged in at {mac}; nothing changes there."
            return Phone(mac, why_not=ActStep("phone", "kept", text))
        if desk.default_profile_uuid is None and desk.due is None:
            text = f"{mac} keeps its configuration: it has no default profile."
            return Phone(mac, why_not=ActStep("phone", "kept", text))
        # Where no user was logged in, a SIP phone would keep its file.
        is_settled = desk.due is Due.LOGOUT or desk.default_profile_uuid is None
        return Phone(mac, desk.default_profile_uuid, is_due=is_settled)


class _Undo(Struct, frozen=True):
    """What an audit entry of an act says."""

    action: str
    values: dict[str, Any]


@dataclass(frozen=True)
class UndoAct:
    """Takes an act back; needs level 0."""

    acts: Acts

    async def __call__(self, actor: Actor, request: UndoRequest) -> Moved:
        """Undo everything that an act did, as far as it was not changed since, all in one
        transaction; then the phones. What cannot come back is named. An act that was undone before
        does not change. Raises ``NotFound`` without the act, ``ActRefused``."""
        require_superadmin(actor)
        wanted = WantedEntries(resource=ACT, resource_id=request.act)
        async with self.acts.database.read() as tx:
            found = await tx.audit.newest(wanted, _MOST_ENTRIES)
        noted = [
            _Undo(one.entry.action, {k: v["new"] for k, v in one.entry.changes.items()})
            for one in reversed(found)
        ]
        people = [one for one in noted if one.action in {"person.joined", "person.left"}]
        if not people:
            raise NotFound("There is no such act, or its audit entries are no longer kept.")

        async def write(
            tx: JoiningTransaction, parts: Parts, _act: str, _at: int, one: _Undo
        ) -> Written:
            username, uuid = one.values["username"], one.values["user_uuid"]
            user = await tx.users.find(uuid)
            undone = await tx.audit.newest(
                WantedEntries(resource=ACT, resource_id=request.act, action=f"{one.action}_undone"),
                _MOST_ENTRIES,
            )
            if any(entry.entry.changes["user_uuid"]["new"] == uuid for entry in undone):
                before = ActStep("person", "unchanged", "This was undone before.")
                return Written(MovedPerson(username, None, None, None, (before,)))
            back = _Back(tx, parts, actor, one.values)
            if one.action == "person.joined":
                steps, phones = await back.of_join(user)
            else:
                steps, phones = await back.of_leave(user)
            has_changed = any(step.outcome == "done" for step in steps)
            if has_changed:
                verb = one.action.removeprefix("person.")
                values = {"username": username, "user_uuid": uuid}
                tx.trail.note(event(request.act, f"{verb}_undone", values))
            is_deleted = user is None or (has_changed and one.action == "person.joined")
            remaining = None if is_deleted else uuid
            return Written(MovedPerson(username, remaining, None, None, tuple(steps)), phones)

        moved = await self.acts(actor, people, write, dry_run=request.dry_run)
        return replace(moved, act=request.act if moved.written else None)


@dataclass
class _Back:
    """The way back of one person; ``values`` are those of the audit entry."""

    tx: JoiningTransaction
    parts: Parts
    actor: Actor
    values: dict[str, Any]

    async def of_join(self, user: User | None) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Delete what the join created, unless another person has it now. An account that was
        used since stays whole."""
        values, steps = self.values, list[ActStep]()
        if user is not None and (user.last_login_at or await self.tx.desks.of(user=user.uuid)):
            text = f"{user.username} has logged in since: the account and what it got stay."
            return [ActStep("account", "kept", text)], ()
        desks = []
        if mac := values.get("mac"):
            desks = [(mac, values.get("profile_uuid"), values.get("default_before"))]
        desk_steps, phones = await self._desks(desks)
        if user is not None:
            await self.parts.users.delete(self.actor, user.uuid)
            text = f"{user.username} is deleted, with links, profiles and PIN."
            steps.append(ActStep("account", "done", text))
        else:
            steps.append(ActStep("account", "unchanged", "The account was deleted before."))
        if uuid := values.get("extension_uuid"):
            steps.append(await self._number_of_join(uuid, values["number"]))
        if (uuid := values.get("contact_uuid")) and await self.tx.company_contacts.find(uuid):
            await self.parts.company_directory.delete(self.actor, uuid)
            steps.append(ActStep("directory", "done", "The directory entry is deleted."))
        return steps + desk_steps, phones

    async def _number_of_join(self, uuid: str, number: str) -> ActStep:
        extension = await self.tx.extensions.find(uuid)
        if extension is None:
            return ActStep("number", "unchanged", f"{number} was deleted before.")
        others = await self.tx.links.users.rows(1, owner=uuid)
        if others or await self.tx.desk_uses.with_number(uuid):
            return ActStep("number", "kept", f"{number} stays: another user or a desk has it.")
        if self.values.get("reused"):
            patch = ExtensionPatch(password=self.parts.new_password(), is_active=False)
            await self.parts.extensions.update(self.actor, uuid, patch)
            return ActStep("number", "done", f"{number} is inactive again.")
        await self.parts.extensions.delete(self.actor, uuid)
        return ActStep("number", "done", f"{number} is deleted.")

    async def of_leave(self, user: User | None) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Give back what the person had, unless another person has it now."""
        values = self.values
        if user is None:
            problem = Problem("username", "is that of an account that was deleted")
            raise NotFound("The account was deleted.", problems=(problem,))
        steps = list[ActStep]()
        if values.get("was_active") and not user.is_active:
            await self.parts.users.update(self.actor, user.uuid, UserPatch(is_active=True))
            text = f"{user.username} is active; sessions and API tokens do not come back."
            steps.append(ActStep("account", "done", text))
        else:
            steps.append(ActStep("account", "unchanged", f"{user.username} was not changed."))
        for uuid in values.get("unlinked", []):
            steps.append(await self._number_of_leave(user, uuid))
        for uuid in values.get("contacts", []):
            if await self.tx.company_contacts.find(uuid):
                patch = CompanyContactPatch(is_active=True)
                await self.parts.company_directory.update(self.actor, uuid, patch)
                steps.append(ActStep("directory", "done", "The directory entry is shown again."))
        pairs = [one.split(" ") for one in values.get("desks", [])]
        vacant = values.get("vacant")
        desk_steps, phones = await self._desks([(mac, vacant, uuid) for mac, uuid in pairs])
        return steps + desk_steps, phones

    async def _number_of_leave(self, user: User, uuid: str) -> ActStep:
        tx, values = self.tx, self.values
        extension = await tx.extensions.find(uuid)
        if extension is None:
            return ActStep("number", "kept", "A number of the person was deleted.")
        number = extension.extension
        links = await tx.links.users.rows(_MOST, owner=uuid)
        handed = [one for one in links if uuid in values.get("handed", [])
                  and one.user_uuid == values.get("handed_to")]  # fmt: skip
        if uuid in values.get("freed", []) and (links or extension.is_active):
            return ActStep("number", "kept", f"{number} does not come back: it is in use.")
        if any(one.user_uuid == user.uuid for one in links):
            return ActStep("number", "unchanged", f"{number} is the person's already.")
        for link in handed:
            await self.parts.links.delete(self.actor, link.uuid)
        new = CreateLink(user_uuid=user.uuid, extension_uuid=uuid)
        await self.parts.links.create(self.actor, new)
        text = f"{number} is the person's again."
        if uuid in values.get("freed", []):
            await self.parts.extensions.update(self.actor, uuid, ExtensionPatch(is_active=True))
            text = f"{number} is the person's again, with another password and no passcode."
        return ActStep("number", "done", text)

    async def _desks(
        self, desks: list[tuple[str, str | None, str | None]]
    ) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Give each desk its earlier default, if it still has that of the act: phone, default of
        the act, default before."""
        steps, phones = list[ActStep](), list[Phone]()
        for mac, now, before in desks:
            if await self.tx.phones.find(mac) is None:
                continue
            current = (await self.tx.desks.find(mac)).default_profile_uuid
            if current != now:
                steps.append(ActStep("desk", "kept", f"{mac} has another default profile by now."))
                continue
            is_there = before is not None and await self.tx.profiles.find(before)
            patch = DeskPatch(default_profile_uuid=before if is_there else None)
            await configure(self.tx, mac, patch)
            what = "its earlier default profile" if is_there else "no default profile"
            steps.append(ActStep("desk", "done", f"{mac} has {what}."))
            phones.append(Phone(mac, before if is_there else None))
        return steps, tuple(phones)
