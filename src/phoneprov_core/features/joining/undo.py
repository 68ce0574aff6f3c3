"""Undoing an act: it restores the records that were not changed since, and keeps the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.joining.acts import Acts, Parts, Phone, Written, called, event, hold
from phoneprov_core.features.joining.model import (
    ACT,
    ActStep,
    JoiningTransaction,
    Moved,
    MovedPerson,
    UndoRequest,
)
from phoneprov_core.features.joining.tables import Listed
from phoneprov_core.inventory.extensions import ExtensionPatch
from phoneprov_core.inventory.links import CreateLink
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.directory.model import CompanyContactPatch
from phoneprov_core.people.users.model import User, UserPatch

_MOST = 1000
_MOST_ENTRIES = 200


class _Undo(Struct, frozen=True):
    """The values and the time of an audit entry of an act."""

    at: str
    action: str
    values: dict[str, Any]


@dataclass(frozen=True)
class UndoAct:
    """Undoes an act; needs level 0."""

    acts: Acts

    async def __call__(self, actor: Actor, request: UndoRequest) -> Moved:
        """Undo every change of an act that was not changed again since, in one transaction; then
        switch the phones. The result names each change that cannot be undone. An act that was
        undone before does not change anything. Raises ``NotFound`` without the act,
        ``ActRefused``."""
        require_superadmin(actor)
        wanted = WantedEntries(resource=ACT, resource_id=request.act)
        async with self.acts.database.read() as tx:
            found = await tx.audit.newest(wanted, _MOST_ENTRIES)
        noted = [
            _Undo(
                one.entry.at, one.entry.action, {k: v["new"] for k, v in one.entry.changes.items()}
            )
            for one in found
        ]
        # The newest first: a number may have gone through several hands.
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
            back = _Back(tx, parts, actor, one.at, one.values)
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

        async def held(tx: JoiningTransaction) -> None:
            await hold(tx, [one.values["user_uuid"] for one in people])

        moved = await self.acts(actor, Listed(tuple(people)), write, held, dry_run=request.dry_run)
        in_order = tuple(reversed(moved.people))
        return replace(moved, act=request.act if moved.written else None, people=in_order)


@dataclass
class _Back:
    """The undo for one person; ``at`` and ``values`` are the values of the audit entry."""

    tx: JoiningTransaction
    parts: Parts
    actor: Actor
    at: str
    values: dict[str, Any]

    async def of_join(self, user: User | None) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Delete what the join created, unless another person has it now. An account that was
        used since stays whole."""
        values, steps = self.values, list[ActStep]()
        if user is not None and (user.last_login_at or await self.tx.desks.of(user=user.uuid)):
            text = f"{user.username} has logged in since: the account and what it got stay."
            return [ActStep("account", "kept", text)], ()
        if user is not None and (more := await self._more(user)):
            text = (
                f"{user.username} has changed since ({', '.join(more)}): the account stays whole."
            )
            return [ActStep("account", "kept", text)], ()
        desks = []
        if mac := values.get("mac"):
            desks = [(mac, values.get("default_before"), values.get("profile_uuid"), None)]
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
            if await self._has_changed(uuid):
                text = "The directory entry stays: it was changed since."
                steps.append(ActStep("directory", "kept", text))
            else:
                await self.parts.company_directory.delete(self.actor, uuid)
                steps.append(ActStep("directory", "done", "The directory entry is deleted."))
        return steps + desk_steps, phones

    async def _has_changed(self, uuid: str, action: str | None = None) -> bool:
        """Whether the audit trail has a change of the record after the act."""
        found = await self.tx.audit.newest(WantedEntries(resource_id=uuid, action=action), 1)
        return any(one.entry.at > self.at for one in found)

    async def _more(self, user: User) -> list[str]:
        """The records of the account that the join did not create, or that were changed since."""
        tx, values, uuid = self.tx, self.values, user.uuid
        profile = values.get("profile_uuid")
        links = await tx.links.extensions.rows(_MOST, owner=uuid)
        profiles = await tx.profiles.rows(_MOST, owner=uuid)
        desks = await tx.desk_uses.with_default(profile) if profile else []
        more = {
            "the account": await self._has_changed(uuid, "user.updated"),
            "a right": await tx.rights.find(uuid) or await tx.assignments.of_user(uuid),
            "a number": any(one.extension_uuid != values.get("extension_uuid") for one in links),
            "a profile": any(
                [one.uuid != profile or await self._has_changed(one.uuid) for one in profiles]
            ),
            "a desk": set(desks) - {values.get("mac")},
            "personal contacts": await tx.personal_contacts.count(uuid),
        }
        return [what for what, is_there in more.items() if is_there]

    async def _number_of_join(self, uuid: str, number: str) -> ActStep:
        extension = await self.tx.extensions.find(uuid)
        if extension is None:
            return ActStep("number", "unchanged", f"{number} was deleted before.")
        others = await self.tx.links.users.rows(1, owner=uuid)
        if others or await self.tx.desk_uses.with_number(uuid):
            return ActStep("number", "kept", f"{number} stays: another user or a desk has it.")
        if await self._has_changed(uuid, "extension.updated"):
            return ActStep("number", "kept", f"{number} stays, active: it was changed since.")
        if self.values.get("reused"):
            patch = ExtensionPatch(password=self.parts.new_password(), is_active=False)
            await self.parts.extensions.update(self.actor, uuid, patch)
            return ActStep("number", "done", f"{number} is inactive again.")
        await self.parts.extensions.delete(self.actor, uuid)
        return ActStep("number", "done", f"{number} is deleted.")

    async def of_leave(self, user: User | None) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Restore the records of the person, except records that belong to another person now."""
        values = self.values
        if user is None:
            return [ActStep("account", "kept", "The account was deleted; nothing comes back.")], ()
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
            if contact := await self.tx.company_contacts.find(uuid):
                if contact.is_active:
                    text = "The directory entry is shown already."
                    steps.append(ActStep("directory", "unchanged", text))
                    continue
                patch = CompanyContactPatch(is_active=True)
                await self.parts.company_directory.update(self.actor, uuid, patch)
                steps.append(ActStep("directory", "done", "The directory entry is shown again."))
        changes = [
            [None if part == "-" else part for part in one.split(" ")]
            for one in values.get("desks", [])
        ]
        desk_steps, phones = await self._desks([(c[0] or "", c[1], c[2], c[3]) for c in changes])
        return steps + desk_steps, phones

    async def _number_of_leave(self, user: User, uuid: str) -> ActStep:
        tx, values = self.tx, self.values
        extension = await tx.extensions.find(uuid)
        if extension is None:
            return ActStep("number", "kept", "A number of the person was deleted.")
        number = extension.extension
        links = await tx.links.users.rows(_MOST, owner=uuid)
        if any(one.user_uuid == user.uuid for one in links):
            return ActStep("number", "unchanged", f"{number} is the person's already.")
        is_handed = uuid in values.get("handed", [])
        handed = [one for one in links if is_handed and one.user_uuid == values["handed_to"]]
        is_free = not (links or extension.is_active)
        is_kept = is_handed or uuid in values.get("freed", [])
        if is_kept and not (handed or is_free):
            return ActStep("number", "kept", f"{number} does not come back: it is in use.")
        for link in handed:
            await self.parts.links.delete(self.actor, link.uuid)
        new = CreateLink(user_uuid=user.uuid, extension_uuid=uuid)
        await self.parts.links.create(self.actor, new)
        text = f"{number} is the person's again."
        if is_free:
            await self.parts.extensions.update(self.actor, uuid, ExtensionPatch(is_active=True))
            text = f"{number} is the person's again, with another password and no passcode."
        elif len(links) == len(handed) and not await tx.desk_uses.with_number(uuid):
            # The phones of the person who had it know the password.
            patch = ExtensionPatch(password=self.parts.new_password())
            await self.parts.extensions.update(self.actor, uuid, patch)
            text = f"{number} is the person's again, with another password."
        return ActStep("number", "done", text)

    async def _desks(
        self, desks: Sequence[tuple[str, str | None, str | None, str | None]]
    ) -> tuple[list[ActStep], tuple[Phone, ...]]:
        """Restore the earlier default profile of each desk that still has the default of the act.
        Each row is: phone, default before, default of the act, profile on the phone before. The
        phone gets its default profile, else its profile of before."""
        steps, phones = list[ActStep](), list[Phone]()
        for mac, before, now, on_phone in desks:
            phone = await self.tx.phones.find(mac)
            if phone is None:
                continue
            shown = called(phone, mac)
            current = (await self.tx.desks.find(mac)).default_profile_uuid
            if current != now:
                steps.append(
                    ActStep("desk", "kept", f"{shown} has another default profile by now.")
                )
                continue
            is_there = before is not None and await self.tx.profiles.find(before)
            patch = DeskPatch(default_profile_uuid=before if is_there else None)
            await configure(self.tx, mac, patch)
            what = "its earlier default profile" if is_there else "no default profile"
            steps.append(ActStep("desk", "done", f"{shown} has {what}."))
            was_there = on_phone is not None and await self.tx.profiles.find(on_phone)
            phones.append(
                Phone(mac, shown, before if is_there else on_phone if was_there else None)
            )
        return steps, tuple(phones)
