"""The contacts of a directory's people in the company directory."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from msgspec import UNSET, structs

from phoneprov_core.features.sync.model import CONTACT, DirectoryKey, SyncOptions, SyncTransaction
from phoneprov_core.features.sync.reading import People, Want, differs, every, fields_set
from phoneprov_core.features.transfer.model import RowProblem, problems_of
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.directory.model import (
    CompanyContact,
    CompanyContactPatch,
    CreateCompanyContact,
)
from phoneprov_core.people.directory.use_cases import CompanyDirectory


class Contacts(NamedTuple):
    """The changes of the company directory: commands with the key, and the contact if it exists."""

    changed: list[tuple[DirectoryKey, CompanyContact | None, Any]]
    problems: list[RowProblem]

    @classmethod
    async def of(
        cls,
        tx: SyncTransaction,
        all_keys: Sequence[DirectoryKey],
        wants: Mapping[str, Want],
        found: People,
        options: SyncOptions,
    ) -> Self:
        """The changes; a problem of a contact leaves the contact out."""
        if not options.contacts:
            return cls([], [])
        contacts = {one.uuid: one async for one in every(tx.company_contacts)}
        keys = [one for one in all_keys if one.kind == CONTACT]
        keyed = {one.record_uuid for one in keys}
        own = {
            one.key: contacts[one.record_uuid]
            for one in keys
            if one.source == options.source and one.record_uuid in contacts
        }
        by_email = {
            caseless(one.email): one for one in contacts.values()
            if one.email and one.uuid not in keyed
        } if options.adopt else {}  # fmt: skip
        problems: list[RowProblem] = []
        changed: list[tuple[DirectoryKey, CompanyContact | None, Any]] = []
        for want in wants.values():
            person = want.person
            contact = own.get(person.key) or by_email.pop(caseless(want.email), None)
            values = {**person.contact, "is_active": person.values["is_active"]}
            if name := _full_name(want):
                values["name"] = name
            key = DirectoryKey(options.source, person.key, CONTACT, contact.uuid if contact else "")
            try:
                if contact is None:
                    changed.append((key, None, command_of(CreateCompanyContact, values)))
                    continue
                patch = command_of(CompanyContactPatch, values)
            except Invalid as error:
                problems += problems_of(person.line, error)
                continue
            same = {name: UNSET for name in fields_set(patch) if not differs(patch, contact, name)}
            patch = structs.replace(patch, **same)
            if fields_set(patch) or person.key not in own:
                changed.append((key, contact, patch))
        if options.missing_ == "deactivate" and not found.has_unknown:
            changed += [
                (
                    DirectoryKey(options.source, key, CONTACT, contact.uuid),
                    contact,
                    CompanyContactPatch(is_active=False),
                )
                for key, contact in own.items()
                if key not in found.keys and contact.is_active
            ]
        return cls(changed, problems)

    async def write(self, tx: SyncTransaction, actor: Actor, directory: CompanyDirectory) -> None:
        """Write the changes in the transaction that ``directory`` has joined."""
        known = {
            (one.source, one.key) for one in await tx.directory_keys.all() if one.kind == CONTACT
        }
        for key, contact, command in self.changed:
            uuid = key.record_uuid
            if contact is None:
                uuid = (await directory.create(actor, command)).uuid
            elif fields_set(command):
                await directory.update(actor, uuid, command)
            if contact is None or (key.source, key.key) not in known:
                await tx.directory_keys.put(structs.replace(key, record_uuid=uuid))


def _full_name(want: Want) -> str:
    names = [want.command.first_name, want.command.last_name]
    stored = [want.user.first_name, want.user.last_name] if want.user else ["", ""]
    return " ".join(
        new if isinstance(new, str) else old for new, old in zip(names, stored, strict=True)
    )
