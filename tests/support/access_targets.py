"""New records that requests name, and bodies of requests for them."""

from collections.abc import Awaitable, Callable
from typing import Any

from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.joining.acts import event
from phoneprov_core.inventory.phone_parts import Kem, VendorPhoneRecord
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.people.permissions import Right
from phoneprov_core.switching.deployments.model import Outcome
from support.access_rig import CALLERS, Body, Rig
from support.api import PASSWORD
from support.kinds import TEMPLATES, Kind, a_token, add, an_identity
from support.phone_records import (
    CNF_XML,
    a_batch,
    a_deployment,
    a_phone,
    a_profile,
    a_revision,
    a_template,
    a_template_text,
)
from support.records import (
    a_company_contact,
    a_link,
    a_mac,
    a_permission,
    a_personal_contact,
    a_pin,
    a_user,
    an_assignment,
    an_extension,
    identifier,
    moment,
)


async def nothing(_: Rig) -> dict[str, str]:
    return {}


async def a_joiner(rig: Rig, _: str, _target: dict[str, str]) -> Body:
    n = rig.number()
    person = {"first_name": "Ada", "last_name": "Byron", "username": f"joiner-{n}",
              "email": f"joiner-{n}@example.com", "pin": False}  # fmt: skip
    return {"people": [person]}


async def a_leaver(rig: Rig, _: str, target: dict[str, str]) -> Body:
    async with rig.api.database.read() as tx:
        user = await tx.users.find(target["uuid"])
    assert user is not None
    return {"people": [{"username": user.username}]}


async def an_act(rig: Rig) -> dict[str, str]:
    """A join that can be undone."""
    act, number = identifier(rig.number()), rig.number()
    joiner = a_user(number, last_login_at=None)
    values = {"username": joiner.username, "user_uuid": joiner.uuid}
    async with rig.api.database.write(by=SYSTEM_ACTOR) as tx:
        await tx.users.add(joiner)
        tx.trail.note(event(act, "joined", values))
    return {"act": act}


async def fixed(**target: str) -> dict[str, str]:
    return target


async def a_new_user(rig: Rig) -> dict[str, str]:
    number = rig.number()
    user, permission = a_user(number), a_permission(number)
    async with rig.api.database.write() as tx:
        await tx.users.add(user)
        await tx.permissions.add(permission)
        await tx.assignments.assign(an_assignment(user.uuid, permission.uuid, number))
    return {"uuid": user.uuid, "user_uuid": user.uuid}


async def a_user_with_a_right(rig: Rig) -> dict[str, str]:
    user = a_user(rig.number())
    async with rig.api.database.write() as tx:
        await tx.users.add(user)
        await tx.rights.add(Right(user.uuid, "helpdesk", ("Berlin",), moment(1), moment(1)))
    return {"uuid": user.uuid}


async def a_new_permission(rig: Rig) -> dict[str, str]:
    permission = a_permission(rig.number())
    async with rig.api.database.write() as tx:
        await tx.permissions.add(permission)
    return {"uuid": permission.uuid}


async def a_new_extension(rig: Rig) -> dict[str, str]:
    number = rig.number()
    extension = an_extension(number, extension=str(number))
    async with rig.api.database.write() as tx:
        await tx.extensions.add(extension)
    return {"uuid": extension.uuid, "extension_uuid": extension.uuid}


async def a_new_link(rig: Rig) -> dict[str, str]:
    extension = await a_new_extension(rig)
    link = a_link(rig.number(), rig.owner, extension["uuid"])
    async with rig.api.database.write() as tx:
        await tx.links.add(link)
    return {"uuid": link.uuid}


async def a_new_phone(rig: Rig) -> dict[str, str]:
    number = rig.number()
    async with rig.api.database.write() as tx:
        await tx.phones.add(a_phone(number, location="Office / 2"))
        await tx.vendor_phones.save(VendorPhoneRecord(a_mac(number), True, moment(1)))
    return {"mac": a_mac(number)}


async def a_phone_without_an_address(rig: Rig) -> dict[str, str]:
    """Level 0 alone deletes one with an address."""
    number = rig.number()
    async with rig.api.database.write() as tx:
        await tx.phones.add(a_phone(number, location="Office", phone_ip=None))
    return {"mac": a_mac(number)}


async def a_desk_of_the_owner(rig: Rig) -> dict[str, str]:
    target = await a_new_phone(rig)
    async with rig.api.database.write() as tx:
        await tx.desks.put(DeskRecord(target["mac"]).used(DeskUse(rig.owner), moment(1)))
    return target


async def a_new_batch(rig: Rig) -> dict[str, str]:
    batch = a_batch(rig.number(), ended_at=moment(1))
    async with rig.api.database.write() as tx:
        await tx.batches.add(batch)
    return {"uuid": batch.uuid}


async def a_new_kem(rig: Rig) -> dict[str, str]:
    kem = Kem(identifier(rig.number()), None, None, None, None, None, None, moment(1))
    async with rig.api.database.write() as tx:
        await tx.kems.add(kem)
    return {"uuid": kem.uuid}


def a_new(kind: Kind) -> Callable[[Rig], Awaitable[dict[str, str]]]:
    """A record of a kind that needs no other record."""

    async def target(rig: Rig) -> dict[str, str]:
        record = kind.make(rig.number())
        await add(rig.api.database, record)
        return {kind.key: kind.key_of(record)}

    return target


async def a_text_of_a_new_template(rig: Rig) -> dict[str, str]:
    template = a_template(rig.number())
    async with rig.api.database.write() as tx:
        await tx.templates.add(template)
        await tx.template_texts.add(a_template_text(rig.number(), template))
    return {"uuid": template.uuid}


async def a_new_company_contact(rig: Rig) -> dict[str, str]:
    contact = a_company_contact(rig.number())
    async with rig.api.database.write() as tx:
        await tx.company_contacts.add(contact)
    return {"uuid": contact.uuid}


async def the_owners_contact(rig: Rig) -> dict[str, str]:
    contact = a_personal_contact(rig.number(), rig.owner)
    async with rig.api.database.write() as tx:
        await tx.personal_contacts.add(contact)
    return {"uuid": contact.uuid}


async def the_owners_profile(rig: Rig) -> dict[str, str]:
    number = rig.number()
    profile = a_profile(number, rig.owner)
    async with rig.api.database.write() as tx:
        await tx.profiles.add(profile)
        await tx.revisions.add(a_revision(number, profile), CNF_XML)
        await tx.phones.add(a_phone(number, location="Office / 2"))
    return {"uuid": profile.uuid, "mac": a_mac(number)}


async def a_deployment_of_the_owners(rig: Rig) -> dict[str, str]:
    """A deployment of the owner's profile on a phone, after another one of theirs."""
    target = await the_owners_profile(rig)
    more = {"profile_uuid": target["uuid"], "owner_uuid": rig.owner, "place": "somewhere"}
    done = [
        a_deployment(rig.number(), target["mac"], outcome=Outcome.DEPLOYED, sha256=hash_, **more)
        for hash_ in ("0" * 64, "1" * 64)
    ]
    async with rig.api.database.write() as tx:
        for deployment in done:
            await tx.deployments.add(deployment)
    return {"uuid": done[0].uuid, "mac": target["mac"]}


async def a_template_and_a_profile(rig: Rig) -> dict[str, str]:
    profile = await the_owners_profile(rig)
    template = await a_new(TEMPLATES)(rig)
    return {**template, "profile_uuid": profile["uuid"], "mac": profile["mac"]}


async def the_owner(rig: Rig) -> dict[str, str]:
    async with rig.api.database.write() as tx:
        await tx.vendor_users.save(a_pin(rig.number(), rig.owner))
    return {"user_uuid": rig.owner}


def sending(**fields: Any) -> Callable[[Rig, str, dict[str, str]], Awaitable[Body]]:
    """A body of these fields; ``{n}`` becomes a new number, ``{uuid}`` the uuid of the target."""

    async def body(rig: Rig, _: str, target: dict[str, str]) -> Body:
        number = rig.number()
        known = {"n": number, "new_mac": a_mac(number), "owner": rig.owner, **target}
        return {
            name: value.format(**known) if isinstance(value, str) else value
            for name, value in fields.items()
        }

    return body


async def a_restart(_: Rig, __: str, target: dict[str, str]) -> Body:
    return {"action": "restart", "macs": [target["mac"]]}


async def a_phone_to_edit(rig: Rig) -> dict[str, str]:
    return {"kind": "phones", **await a_new_phone(rig)}


async def an_edit(_: Rig, __: str, target: dict[str, str]) -> Body:
    return {"records": [{"key": target["mac"]}], "is_active": False}


async def own_refresh_token(rig: Rig, caller: str, _: dict[str, str]) -> Body:
    user = rig.users[caller] if caller in CALLERS else rig.owner
    return {"refresh_token": await rig.refresh_token(user)}


async def own_password(rig: Rig, caller: str, _: dict[str, str]) -> Body:
    if caller in CALLERS:
        hash_ = await rig.api.container.hasher().hash(PASSWORD)
        async with rig.api.database.write() as tx:
            await tx.users.set_password_hash(rig.users[caller], hash_)
    return {"current_password": PASSWORD, "password": f"{PASSWORD} anew"}


async def login_of_the_owner(rig: Rig, _: str, __: dict[str, str]) -> Body:
    async with rig.api.database.write() as tx:
        await tx.users.set_password_hash(rig.owner, await rig.api.container.hasher().hash(PASSWORD))
        user = await tx.users.find(rig.owner)
    assert user is not None
    return {"username": user.username, "password": PASSWORD}


async def a_user_and_a_permission(rig: Rig, _: str, target: dict[str, str]) -> Body:
    permission = await a_new_permission(rig)
    return {"user_uuid": target["user_uuid"], "perm_uuid": permission["uuid"]}


async def an_extension_for_the_owner(rig: Rig, _: str, __: dict[str, str]) -> Body:
    extension = await a_new_extension(rig)
    return {"user_uuid": rig.owner, "extension_uuid": extension["uuid"]}


async def a_token_of_the_owner(rig: Rig) -> dict[str, str]:
    token = a_token(rig.number(), rig.owner)
    async with rig.api.database.write() as tx:
        await tx.api_tokens.end_all(rig.owner)
        await tx.api_tokens.add(token)
    return {"uuid": token.uuid}


async def an_identity_of_the_owner(rig: Rig) -> dict[str, str]:
    return await _identity(rig, rig.owner)


async def an_identity_of_another(rig: Rig) -> dict[str, str]:
    target = await a_new_user(rig)
    made = await _identity(rig, target["uuid"])
    return {**target, "identity_uuid": made["uuid"]}


async def _identity(rig: Rig, user: str) -> dict[str, str]:
    identity = an_identity(rig.number(), user)
    async with rig.api.database.write() as tx:
        await tx.identities.add(identity)
    return {"uuid": identity.uuid}


async def a_session_of_the_owner(rig: Rig) -> dict[str, str]:
    return {"uuid": await rig.session(rig.owner)}


async def a_session_of_another(rig: Rig) -> dict[str, str]:
    target = await a_new_user(rig)
    return {**target, "session_uuid": await rig.session(target["uuid"])}


async def a_token_of_another(rig: Rig) -> dict[str, str]:
    target = await a_new_user(rig)
    token = a_token(rig.number(), target["uuid"])
    async with rig.api.database.write() as tx:
        await tx.api_tokens.add(token)
    return {**target, "token_uuid": token.uuid}


async def a_discovered_phone(rig: Rig) -> dict[str, str]:
    mac = a_mac(rig.number())
    async with rig.api.database.write() as tx:
        await tx.discovered_phones.see(mac, "10.0.0.9", None, "x", moment(1))
    return {"mac": mac}
