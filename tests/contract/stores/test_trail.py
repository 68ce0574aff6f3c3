"""The contract of the trail: what a writing transaction records of its changes."""

import asyncio
from typing import Any

import msgspec
import pytest

from contract.stores.test_audit import ADA
from phoneprov_core.features.desks.records import DeskRecord, DeskUse, Due, end_use, end_uses
from phoneprov_core.inventory.links import Link
from phoneprov_core.inventory.vendor_services import VendorService
from phoneprov_core.kernel.actor import Event
from phoneprov_core.people.directory.model import PersonalContact
from phoneprov_core.people.vendor_users import VendorUser
from support.kinds import KINDS, Kind
from support.phone_records import a_phone, a_profile, a_revision
from support.records import (
    a_permission,
    a_user,
    an_assignment,
    an_extension,
    identifier,
    moment,
)
from support.store_tests import DatabaseTests

SECRETS = {"password", "voicemail_passcode", "body"}


class TestTrail(DatabaseTests):
    """The contract of the trail: what a writing transaction records of its changes."""

    async def latest(self) -> tuple[str, str | None, Any]:
        """Action, resource id and changes of the newest entry."""
        entry = (await self.recorded())[-1]
        return entry.action, entry.resource_id, entry.changes

    @pytest.mark.parametrize("one", KINDS, ids=repr)
    async def test_changes_of_a_record_are_recorded(self, one: Kind) -> None:
        record = one.make(1)
        changed = one.changed(record)
        key = one.key_of(record)
        await self.add(*one.others)
        await self.add(record, by=ADA)
        async with self.database.write(by=ADA) as tx:
            await one.store(tx).find(key)
            await one.store(tx).put(changed)
        async with self.database.write(by=ADA) as tx:
            await one.store(tx).remove(key)

        created, updated, deleted = await self.recorded()
        assert [entry.resource_id for entry in (created, updated, deleted)] == [key] * 3
        assert created.resource == updated.resource == deleted.resource
        verbs = [entry.action.partition(".")[2] for entry in (created, updated, deleted)]
        assert verbs == ["created", "updated", "deleted"]
        plain = {
            field: {
                "old": msgspec.to_builtins(getattr(record, field)),
                "new": msgspec.to_builtins(value),
            }
            for field, value in one.change.items()
            if field not in {"created_by", "updated_by", *SECRETS}
        }
        secrets = SECRETS & set(one.change)
        expected = msgspec.json.decode(msgspec.json.encode(plain))
        assert updated.changes == expected | dict.fromkeys(secrets, "changed")
        assert all(one.get("new") is None for one in deleted.changes.values() if one != "changed")

    @pytest.mark.parametrize("one", KINDS, ids=repr)
    async def test_put_of_a_record_that_was_not_read_has_old_values(self, one: Kind) -> None:
        record = one.make(1)
        await self.add(*one.others, record)
        await self.put(one.changed(record), one.changed(record), by=ADA)
        (entry,) = await self.recorded()
        assert entry.changes

    async def test_change_that_is_rolled_back_has_no_entry(self) -> None:
        async with self.rolled_back(by=ADA) as tx:
            await tx.phones.add(a_phone(1))
        assert await self.recorded() == []

    async def test_entry_that_cannot_be_written_undoes_the_change(self) -> None:
        unwritable: Any = {"field": object()}

        async def change() -> None:
            async with self.database.write(by=ADA) as tx:
                await tx.phones.add(a_phone(1))
                tx.trail.note(Event("phone.switched", "phone", None, unwritable))

        with pytest.raises(TypeError):
            await change()
        assert await self.recorded() == []
        assert await self.find(a_phone(1)) is None

    async def test_write_without_actor_records_nothing(self) -> None:
        async with self.database.write() as tx:
            await tx.phones.add(a_phone(1))
            tx.trail.note(Event("phone.switched", "phone"))
        assert await self.recorded() == []

    async def test_put_of_equal_values_has_no_entry(self) -> None:
        phone = a_phone(1)
        await self.add(phone)
        await self.put(msgspec.structs.replace(phone, updated_at=moment(50)), by=ADA)
        assert await self.recorded() == []

    async def test_several_changes_of_one_record_are_one_entry(self) -> None:
        phone = a_phone(1, name="a")
        async with self.database.write(by=ADA) as tx:
            await tx.phones.add(phone)
            await tx.phones.put(msgspec.structs.replace(phone, name="b"))
        (entry,) = await self.recorded()
        assert entry.action == "phone.created"
        assert entry.changes["name"] == {"old": None, "new": "b"}

    async def test_secrets_are_named_without_their_values(self) -> None:
        extension = an_extension(1, password="old-secret", voicemail_passcode="1357")
        await self.add(a_user(1), extension, by=ADA)
        async with self.database.write(by=ADA) as tx:
            await tx.users.set_password_hash(identifier(1), "a hash")
        assert await self.latest() == ("user.updated", identifier(1), {"password": "changed"})
        async with self.database.write(by=ADA) as tx:
            await tx.users.set_password_hash(identifier(1), "another", same_password=True)
        await self.add(VendorUser(identifier(50), identifier(1), "first-hash", moment(1)), by=ADA)
        assert (await self.latest())[0] == "vendor_user.created"
        await self.add(VendorUser(identifier(51), identifier(1), "second-hash", moment(2)), by=ADA)
        changes = {"pin_code": "changed"}
        assert await self.latest() == ("vendor_user.updated", identifier(1), changes)
        async with self.database.write(by=ADA) as tx:
            await tx.vendor_users.remove(identifier(1))
            await tx.extensions.remove(extension.uuid)
        text = str(await self.recorded())
        for secret in ("old-secret", "1357", "first-hash", "second-hash", "a hash"):
            assert secret not in text

    async def test_assignment_link_and_flag_are_recorded(self) -> None:
        user = identifier(1)
        await self.add(a_user(1), a_permission(10), a_permission(11), an_extension(20))
        link = Link(identifier(30), user, identifier(20), moment(1))
        for number in (10, 11):
            await self.add(an_assignment(user, identifier(number), number), by=ADA)
        action, resource_id, changes = await self.latest()
        assert (action, resource_id) == ("assignment.updated", user)
        assert changes["perm_uuid"] == {"old": identifier(10), "new": identifier(11)}
        async with self.database.write(by=ADA) as tx:
            await tx.assignments.remove(user)
            assert not await tx.assignments.remove(user)
        assert (await self.latest())[:2] == ("assignment.deleted", user)
        await self.add(link, by=ADA)
        assert (await self.latest())[:2] == ("link.created", link.uuid)
        async with self.database.write(by=ADA) as tx:
            await tx.links.remove(link.uuid)
            assert not await tx.links.remove(link.uuid)
        assert (await self.latest())[:2] == ("link.deleted", link.uuid)

    async def test_revision_is_a_change_of_its_profile(self) -> None:
        profile = a_profile(1, user_uuid=identifier(1))
        await self.add(a_user(1))
        async with self.database.write(by=ADA) as tx:
            await tx.profiles.add(profile)
            await tx.revisions.add(a_revision(10, profile), "<secret/>")
        (entry,) = await self.recorded()
        assert (entry.action, entry.resource_id) == ("profile.created", profile.uuid)
        assert entry.changes["revision"] == {"old": None, "new": 1}
        async with self.database.write(by=ADA) as tx:
            await tx.profiles.put(msgspec.structs.replace(profile, updated_at=moment(9)))
            await tx.revisions.add(a_revision(11, profile, number=2), "<secret/>")
        changes = {"revision": {"old": 1, "new": 2}}
        assert await self.latest() == ("profile.updated", profile.uuid, changes)
        assert "secret" not in str(await self.recorded())

    async def test_records_that_are_deleted_with_a_user_have_entries(self) -> None:
        user, mac = identifier(1), a_phone(1).mac
        profiles = [a_profile(n, user_uuid=user) for n in (10, 11)]
        contact = PersonalContact(
            identifier(20), user, "Grace", None, None, None, None, None, moment(1)
        )
        link = Link(identifier(30), user, identifier(31), moment(1))
        await self.add(
            a_user(1), a_phone(1), an_extension(31), a_permission(40), *profiles, contact, link,
            VendorUser(identifier(50), user, "a hash", moment(1)),
        )  # fmt: skip
        await self.add(an_assignment(user, identifier(40), 40))
        async with self.database.write() as tx:
            use = DeskUse(user, profiles[0].uuid)
            await tx.desks.put(DeskRecord(mac, profiles[1].uuid).used(use, moment(2)))
        async with self.database.write(by=ADA) as tx:
            await end_uses(tx, user)
            await tx.users.remove(user)

        entries = await self.recorded()
        assert sorted((one.action, one.resource_id) for one in entries) == sorted(
            [
                ("assignment.deleted", user),
                ("desk.updated", mac),
                ("link.deleted", link.uuid),
                ("personal_contact.deleted", contact.uuid),
                *[("profile.deleted", one.uuid) for one in profiles],
                ("user.deleted", user),
                ("vendor_user.deleted", user),
            ]
        )
        [desk] = [one.changes for one in entries if one.resource == "desk"]
        assert desk["user_uuid"] == {"old": user, "new": None}
        assert desk["default_profile_uuid"] == {"old": profiles[1].uuid, "new": None}
        async with self.database.read() as tx:
            assert (await tx.desks.find(mac)).default_profile_uuid is None
            assert await tx.personal_contacts.count() == 0

    async def test_links_of_a_deleted_extension_and_desks_have_entries(self) -> None:
        mac = a_phone(1).mac
        link = Link(identifier(30), identifier(1), identifier(31), moment(1))
        profile = a_profile(10, user_uuid=identifier(1))
        await self.add(a_user(1), a_phone(1), an_extension(31), profile, link)
        async with self.database.write() as tx:
            use = DeskUse(identifier(1), profile.uuid, moment(5))
            await tx.desks.put(DeskRecord(mac, profile.uuid, hotdesk=False).used(use, moment(2)))
        async with self.database.write(by=ADA) as tx:
            await tx.extensions.remove(identifier(31))
            await tx.profiles.remove(profile.uuid)
            await end_use(tx, await tx.desks.find(mac), Due.EXPIRY)
        async with self.database.write(by=ADA) as tx:
            await tx.desks.remove(mac)

        assert [(one.action, one.resource_id) for one in await self.recorded()] == [
            ("link.deleted", link.uuid),
            ("extension.deleted", identifier(31)),
            ("desk.updated", mac),
            ("profile.deleted", profile.uuid),
            ("desk.deleted", mac),
        ]

    async def test_secrets_in_the_url_of_a_service_are_masked(self) -> None:
        url = "http://joe:p@ss-1@pbx/menu?token=tok-1&q=x"
        service = VendorService(identifier(1), "Menu", url, None, moment(1), moment(1))
        changed = msgspec.structs.replace(service, url=url.replace("-1", "-2"))
        await self.add(service, by=ADA)
        shown = {"old": None, "new": "http://***@pbx/menu?token=***&q=x"}
        assert (await self.latest())[2]["url"] == shown
        await self.put(changed, by=ADA)
        assert (await self.latest())[2] == {"url": "changed"}
        await self.put(msgspec.structs.replace(changed, url="http://pbx"), by=ADA)
        assert (await self.latest())[2] == {
            "url": {**shown, "old": shown["new"], "new": "http://pbx"}
        }
        assert "ss-" not in str(await self.recorded())
        assert "tok-" not in str(await self.recorded())

    async def test_writers_of_entries_do_not_wait_for_each_other(self) -> None:
        await asyncio.gather(*(self.add(a_phone(number), by=ADA) for number in range(1, 9)))
        assert len(await self.recorded()) == 8
