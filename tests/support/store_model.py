"""A simple model of the stores, and the same operations on a database."""

from typing import Any

from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_core.inventory.extensions import Extension
from phoneprov_core.inventory.links import Link
from phoneprov_core.inventory.profiles.model import ProfileRecord
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import AlreadyExists, InUse, NotFound
from phoneprov_core.people.access import Permission
from phoneprov_core.people.directory.model import PersonalContact
from phoneprov_core.people.users.model import User
from support.records import an_assignment


class Model:
    """A simple model of the stores."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.permissions: dict[str, Permission] = {}
        self.assignments: dict[str, str] = {}
        self.profiles: dict[str, ProfileRecord] = {}
        self.contacts: dict[str, PersonalContact] = {}
        self.extensions: dict[str, Extension] = {}
        self.links: dict[str, Link] = {}

    def add_user(self, user: User) -> None:
        self._require_free(user.uuid in self.users)
        self._require_unique(user)
        self.users[user.uuid] = user

    def put_user(self, user: User) -> None:
        self._require(user.uuid in self.users)
        self._require_unique(user)
        self.users[user.uuid] = user

    def _require_unique(self, user: User) -> None:
        others = [other for other in self.users.values() if other.uuid != user.uuid]
        folded = user.username.casefold()
        self._require_free(any(other.username.casefold() == folded for other in others))

    def remove_user(self, uuid: str) -> bool:
        self.assignments.pop(uuid, None)
        for owned in (self.profiles, self.contacts, self.links):
            _remove_where(owned, "user_uuid", uuid)
        return self.users.pop(uuid, None) is not None

    def by_username(self, name: str) -> User | None:
        found = [u for u in self.users.values() if u.username.casefold() == name.casefold()]
        return found[0] if found else None

    def add_permission(self, permission: Permission) -> None:
        self._require_free(permission.uuid in self.permissions)
        taken = [(other.level, other.name) for other in self.permissions.values()]
        self._require_free((permission.level, permission.name) in taken)
        self.permissions[permission.uuid] = permission

    def remove_permission(self, uuid: str) -> bool:
        if uuid in self.assignments.values():
            raise InUse("in use")
        return self.permissions.pop(uuid, None) is not None

    def assign(self, user_uuid: str, perm_uuid: str) -> None:
        self._require(user_uuid in self.users and perm_uuid in self.permissions)
        self.assignments[user_uuid] = perm_uuid

    def unassign(self, user_uuid: str) -> bool:
        return self.assignments.pop(user_uuid, None) is not None

    def level_of(self, user_uuid: str) -> int | None:
        perm_uuid = self.assignments.get(user_uuid)
        return None if perm_uuid is None else self.permissions[perm_uuid].level

    def another_superadmin(self, besides: str, rule_: LevelRule) -> bool:
        return any(
            self.users[user].is_active and rule_.holds(self.level_of(user), 0)
            for user in self.assignments
            if user != besides
        )

    def add_profile(self, profile: ProfileRecord) -> None:
        self._require_free(profile.uuid in self.profiles)
        self._require(profile.user_uuid in self.users)
        self.profiles[profile.uuid] = profile

    def put_profile(self, profile: ProfileRecord) -> None:
        self._require(profile.uuid in self.profiles and profile.user_uuid in self.users)
        self.profiles[profile.uuid] = profile

    def remove_profile(self, uuid: str) -> bool:
        return self.profiles.pop(uuid, None) is not None

    def add_contact(self, contact: PersonalContact) -> None:
        self._require_free(contact.uuid in self.contacts)
        self._require(contact.user_uuid in self.users)
        self.contacts[contact.uuid] = contact

    def remove_contact(self, uuid: str) -> bool:
        return self.contacts.pop(uuid, None) is not None

    def add_extension(self, extension: Extension) -> None:
        self._require_free(extension.uuid in self.extensions)
        self._require_free_number(extension)
        self.extensions[extension.uuid] = extension

    def put_extension(self, extension: Extension) -> None:
        self._require(extension.uuid in self.extensions)
        self._require_free_number(extension)
        self.extensions[extension.uuid] = extension

    def _require_free_number(self, extension: Extension) -> None:
        others = [other for other in self.extensions.values() if other.uuid != extension.uuid]
        self._require_free(extension.extension in [other.extension for other in others])

    def remove_extension(self, uuid: str) -> bool:
        _remove_where(self.links, "extension_uuid", uuid)
        return self.extensions.pop(uuid, None) is not None

    def add_link(self, link: Link) -> None:
        pairs = [(other.user_uuid, other.extension_uuid) for other in self.links.values()]
        self._require_free(link.uuid in self.links)
        self._require_free((link.user_uuid, link.extension_uuid) in pairs)
        self._require(link.user_uuid in self.users and link.extension_uuid in self.extensions)
        self.links[link.uuid] = link

    def remove_link(self, uuid: str) -> bool:
        return self.links.pop(uuid, None) is not None

    def list_contacts(self, owner: str | None) -> list[PersonalContact]:
        contacts = [c for c in self.contacts.values() if owner in {None, c.user_uuid}]
        return sorted(contacts, key=_position)

    def list_extensions(self) -> list[Extension]:
        return sorted(self.extensions.values(), key=_position)

    def list_links(self, owner: str | None) -> list[str]:
        links = [link for link in self.links.values() if owner in {None, link.user_uuid}]
        return [link.uuid for link in sorted(links, key=_position)]

    def list_users(self, limit: int, offset: int, after: User | None) -> list[User]:
        listed = sorted(self.users.values(), key=_position)
        if after is not None:
            listed = [user for user in listed if _position(user) > _position(after)]
        return listed[offset : offset + limit]

    def list_profiles(self, owner: str | None) -> list[ProfileRecord]:
        profiles = [p for p in self.profiles.values() if owner in {None, p.user_uuid}]
        return sorted(profiles, key=_position)

    def count_profiles(self, owner: str | None) -> int:
        return len(self.list_profiles(owner))

    @staticmethod
    def _require(there: bool) -> None:
        if not there:
            raise NotFound("gone")

    @staticmethod
    def _require_free(taken: bool) -> None:
        if taken:
            raise AlreadyExists("taken")


def _remove_where(records: dict[str, Any], field: str, value: str) -> None:
    for key in [key for key, record in records.items() if getattr(record, field) == value]:
        del records[key]


def _position(record: Any) -> tuple[str, str]:
    return record.created_at, record.uuid


class Real:
    """The same operations on a database."""

    def __init__(self, tx: SqlTransaction) -> None:
        self._tx = tx
        self.add_user = tx.users.add
        self.put_user = tx.users.put
        self.remove_user = tx.users.remove
        self.by_username = tx.users.by_username
        self.add_permission = tx.permissions.add
        self.remove_permission = tx.permissions.remove
        self.unassign = tx.assignments.remove
        self.another_superadmin = tx.assignments.another_superadmin
        self.add_profile = tx.profiles.add
        self.put_profile = tx.profiles.put
        self.remove_profile = tx.profiles.remove
        self.count_profiles = tx.profiles.count
        self.add_contact = tx.personal_contacts.add
        self.remove_contact = tx.personal_contacts.remove
        self.add_extension = tx.extensions.add
        self.put_extension = tx.extensions.put
        self.remove_extension = tx.extensions.remove
        self.add_link = tx.links.add
        self.remove_link = tx.links.remove

    async def assign(self, user_uuid: str, perm_uuid: str) -> None:
        await self._tx.assignments.assign(an_assignment(user_uuid, perm_uuid, int(user_uuid[-2:])))

    async def level_of(self, user_uuid: str) -> int | None:
        assignment = await self._tx.assignments.of_user(user_uuid)
        return None if assignment is None else assignment.level

    async def list_users(self, limit: int, offset: int, after: User | None) -> list[User]:
        return await self._tx.users.rows(limit, offset=offset, after=after)

    async def list_profiles(self, owner: str | None) -> list[ProfileRecord]:
        return await self._tx.profiles.rows(1000, owner=owner)

    async def list_contacts(self, owner: str | None) -> list[PersonalContact]:
        return await self._tx.personal_contacts.rows(1000, owner=owner)

    async def list_extensions(self) -> list[Extension]:
        return await self._tx.extensions.rows(1000)

    async def list_links(self, owner: str | None) -> list[str]:
        return [link.uuid for link in await self._tx.links.extensions.rows(1000, owner=owner)]
