"""People who leave: their account, numbers, desks and directory entries, and their phones."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.records import Due
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.joining.acts import (
    Acts,
    Parts,
    Phone,
    Written,
    called,
    event,
    hold,
    name_of,
    require_named,
)
from phoneprov_core.features.joining.model import (
    ActRefused,
    ActStep,
    JoiningTransaction,
    Leaver,
    LeaveRequest,
    Moved,
    MovedPerson,
)
from phoneprov_core.features.joining.tables import listed
from phoneprov_core.features.templates.model import EMPTY, CreateTemplate
from phoneprov_core.features.transfer.texts import ReadTable, SentTable
from phoneprov_core.inventory.extensions import ExtensionPatch
from phoneprov_core.inventory.links import CreateLink, LinkedExtension
from phoneprov_core.inventory.phones.model import (
    Phone as InventoryPhone,
    is_multiplatform,
    speaks_sip,
)
from phoneprov_core.inventory.profiles.model import CreateProfile, ProfileRecord
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import Conflict, Problem
from phoneprov_core.kernel.ports import selected
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.directory.model import CompanyContactPatch, ContactSearch
from phoneprov_core.people.users.model import User, UserPatch
from phoneprov_core.switching.deployments.ports import current_of, deployed_text

_MOST = 1000
_MOST_CONTACTS = 50

EMPTY_BODY = """\
<?xml version="1.0" encoding="UTF-8"?>
{# For the phone of a person who left: no line, no name and no password of a person. Value:
   call_manager, the exchange that the phone had. Without a load it keeps its firmware. #}
<device>
  <deviceProtocol>{{ 'SIP' if phone.software_type in ['SIP', 'SIPE'] else 'SCCP' }}</deviceProtocol>
  {% if values.call_manager %}
  {# A phone of chan_sccp registers there without a line, so that the exchange can restart it. #}
  <devicePool><callManagerGroup><members><member priority="0"><callManager>
    <processNodeName>{{ values.call_manager }}</processNodeName>
  </callManager></member></members></callManagerGroup></devicePool>
  {% endif %}
  {# 0 enables the web server of the phone, over which this service sends commands and looks. #}
  <vendorConfig><webAccess>0</webAccess></vendorConfig>
  {# Who may send commands, and the menu with Log in. #}
  <authenticationURL>{{ urls.authentication|default('') }}</authenticationURL>
  <servicesURL>{{ urls.services|default('') }}</servicesURL>
</device>
"""
"""The text of the template of empty configurations, unless the office has one of this name."""

_EMPTIED = "an empty configuration as default profile: no line, and the menu for logins"
_SIP = "; without a line it registers nowhere, so restart it by hand after its next switch"
_EXCHANGE = re.compile(r"<processNodeName>\s*([^<>&\s]{1,255})\s*</processNodeName>")


@dataclass(frozen=True)
class LeavePeople:
    """People who leave; needs level 0."""

    acts: Acts
    read: ReadTable

    async def __call__(
        self, actor: Actor, request: LeaveRequest, table: SentTable | None = None
    ) -> Moved:
        """Take from each person the account, the numbers, the desks and the directory entries, all
        in one transaction; then the phones get their default profiles. A phone without one gets
        the profile of the request, else an empty configuration, as its default profile. The
        people are in the ``table``, if it is given.

        The account stays, inactive. Raises ``ActRefused`` with every problem; nothing is written
        then. A person who has left does not change; a phone that still has the person's
        configuration is called again. Raises as ``ReadTable``.
        """
        require_superadmin(actor)
        given = await listed(request, table, self.read, Leaver)
        if given.wrong:
            raise ActRefused(given.wrong)
        names = [name for one in given.people for name in (one.username, one.hand_over_to)]

        async def write(
            tx: JoiningTransaction, parts: Parts, act: str, at: int, leaver: Leaver
        ) -> Written:
            first = next(
                i for i, one in enumerate(given.people)
                if caseless(one.username) == caseless(leaver.username)
            )  # fmt: skip
            if first != at:
                problem = Problem("username", f"is that of {given.place(first)} too")
                raise Conflict("This person is listed twice.", problems=(problem,))
            user = await require_named(tx, leaver.username)
            if user.uuid == actor.user_uuid:
                problem = Problem("username", "is your own account")
                raise Conflict("This is your own account.", problems=(problem,))
            leaving = _Leaving(tx, parts, actor, user)
            return await leaving.write(act, leaver, request.vacant_profile_uuid)

        async def held(tx: JoiningTransaction) -> None:
            known = [await tx.users.by_username(name) for name in names if name]
            await hold(tx, [user.uuid for user in known if user])

        return await self.acts(actor, given, write, held, dry_run=request.dry_run)


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
        planned = await self._planned([*used, *left])
        desk_steps, desks = await self._desks({*used, *left}, vacant, noted)
        steps += desk_steps + await self._contacts({one.extension for one in links}, noted)
        if user.is_active:
            await self.parts.users.update(self.actor, user.uuid, UserPatch(is_active=False))
            steps.append(ActStep("account", "done", f"{user.username} is inactive."))
            ended = "No session and no API token of the account is valid any more."
            steps.append(ActStep("sessions", "done", ended))
        else:
            steps.append(ActStep("account", "unchanged", f"{user.username} was inactive."))
        steps += await self._kept() + planned
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
        """Unlink the numbers. A number that no other user and no desk has becomes free, or is
        handed over to another person. It gets a new password, because the leaver's phone has the
        old one."""
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
            is_new = to is not None and to.uuid not in {one.user_uuid for one in others}
            if to is not None and is_new:
                new = CreateLink(user_uuid=to.uuid, extension_uuid=uuid)
                await self.parts.links.create(self.actor, new)
                noted.setdefault("handed", []).append(uuid)
            desk = await tx.desk_uses.with_number(uuid)
            if others or desk:
                who = ", ".join([*(one.username for one in others), *desk])
                also = f" and now {to.username}" if to is not None and is_new else ""
                text = f"{number} stays active with its password: {who} has it too{also}."
                steps.append(ActStep("number", "done", text))
                continue
            patch = ExtensionPatch(password=self.parts.new_password(), voicemail_passcode=None)
            if to is not None:
                text = (
                    f"{number} is {to.username}'s, with another password; "
                    f"phones of {to.username} have it after their next switch."
                )
            else:
                patch = ExtensionPatch(
                    password=self.parts.new_password(), voicemail_passcode=None, is_active=False
                )
                noted.setdefault("freed", []).append(uuid)
                text = f"{number} is free: inactive, with another password."
            await self.parts.extensions.update(self.actor, uuid, patch)
            steps.append(ActStep("number", "done", text))
        return steps or [ActStep("number", "unchanged", "The person has no number.")]

    async def _desks(
        self, phones: Collection[str], vacant: str | None, noted: dict[str, Any]
    ) -> tuple[list[ActStep], list[str]]:
        """Replace the person's profiles where they are the default of a desk. Give a default
        profile to the other ``phones`` that have none."""
        tx, steps = self.tx, list[ActStep]()
        own = dict[str, str]()
        for profile in await tx.profiles.rows(_MOST, owner=self.user.uuid):
            if profile.uuid != vacant and (vacant or not await self._is_empty(profile)):
                own |= dict.fromkeys(await tx.desk_uses.with_default(profile.uuid), profile.uuid)
        for mac in sorted({*own, *phones}):
            before = (await tx.desks.find(mac)).default_profile_uuid
            phone = await tx.phones.find(mac)
            if phone is None or (before is not None and mac not in own):
                continue
            now, what = vacant, "another default profile"
            if now is None and phone.is_active and not is_multiplatform(phone.software_type):
                now, what = await self._empty(phone), _EMPTIED
                if speaks_sip(phone.software_type):
                    what += _SIP
            if now == before:
                continue
            current = await current_of(tx.deployments, phone)
            await configure(tx, mac, DeskPatch(default_profile_uuid=now))
            on_phone = current.profile_uuid if current else None
            change = " ".join(one or "-" for one in (mac, before, now, on_phone))
            noted.setdefault("desks", []).append(change)
            text = f"The desk {called(phone, mac)} has {what if now else 'no default profile'}."
            steps.append(ActStep("desk", "done", text))
        return steps, list(own)

    async def _is_empty(self, profile: ProfileRecord) -> bool:
        newest = await self.tx.revisions.newest(profile.uuid)
        return newest is not None and newest.template == EMPTY

    async def _empty(self, phone: InventoryPhone) -> str:
        """The person's empty profile. The account has no number any more, so the exchange gives
        the phone no line."""
        tx, parts = self.tx, self.parts
        for profile in await tx.profiles.rows(_MOST, owner=self.user.uuid):
            if await self._is_empty(profile):
                return profile.uuid
        if not await tx.templates.variants(EMPTY):
            template = CreateTemplate(name=EMPTY, body=EMPTY_BODY)
            await parts.templates.create(self.actor, template)
        current = await current_of(tx.deployments, phone)
        known = current and await deployed_text(tx, current)
        exchange = _EXCHANGE.search(known.text if known else "")
        new = CreateProfile(
            user_uuid=self.user.uuid, name="Empty", template=EMPTY,
            values={"call_manager": exchange[1]} if exchange else {},
        )  # fmt: skip
        unlimited = replace(parts.profiles, most_profiles=0)
        return (await unlimited.create(self.actor, new)).uuid

    async def _planned(self, macs: Sequence[str]) -> list[ActStep]:
        """The batches that did not call all their phones yet, and include a phone or a profile of
        the person."""
        profiles = await self.tx.profiles.rows(_MOST, owner=self.user.uuid)
        found = await self.tx.batches.open_with(macs, [one.uuid for one in profiles])
        return [
            ActStep("batch", "kept", f"The {one.state.value} batch {one.uuid} includes a phone or "
                    "a profile of the person. Cancel it, or let it run.")
            for one in found
        ]  # fmt: skip

    async def _contacts(self, numbers: set[str], noted: dict[str, Any]) -> list[ActStep]:
        """Hide the person's entries of the company directory; name others with the number."""
        user, steps = self.user, list[ActStep]()
        name = name_of(user)
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
                steps.append(ActStep("directory", "done", f"The entry {one.name} is hidden."))
            elif one.work in numbers:
                text = f"The entry {one.name} stays in the directory with {one.work}."
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
        if right := await tx.rights.find(uuid):
            where = ", ".join(right.locations) or "all phones"
            kept.append(f"the right {right.right} ({where})")
        return [ActStep("account", "kept", f"The account keeps {', '.join(kept)}.")] if kept else []

    async def _phone(self, mac: str) -> Phone:
        """The phone after the records: a logout that is due, else its default profile."""
        desk = await self.tx.desks.find(mac)
        what = called(await self.tx.phones.find(mac), mac)
        if desk.user_uuid is not None:
            text = f"Another user is logged in at {what}; nothing changes there."
            return Phone(mac, what, why_not=ActStep("phone", "kept", text))
        if desk.default_profile_uuid is None and desk.due is None:
            text = f"{what} keeps its configuration: it is inactive, or has multiplatform firmware."
            return Phone(mac, what, why_not=ActStep("phone", "kept", text))
        # Where no user was logged in, a SIP phone would keep its file.
        is_settled = desk.due is Due.LOGOUT or desk.default_profile_uuid is None
        default = desk.default_profile_uuid
        return Phone(mac, what, default, is_due=is_settled, left_by=self.user.uuid)
