"""API tokens: creation, use, what they may not do, and their end."""

import asyncio
from datetime import timedelta

import pytest

from phoneprov_adapters.security.crypto import KeyedTokens
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import (
    AlreadyExists,
    Invalid,
    NotFound,
    ReadOnlyToken,
    Unauthenticated,
)
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.access import CreateAssignment, CreatePermission, NeedsLogin
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.directory.model import CreatePersonalContact
from phoneprov_core.people.me import CreateToken, TooManyTokens
from phoneprov_core.people.users.model import UserPatch
from phoneprov_core.people.vendor_users import CreatePin
from support.keys import BOTH_KEYS, NEW_KEYS, OLD_KEYS
from support.office import Office

CONTACT = CreatePersonalContact(name="Grace")


async def created(office: Office, actor: Actor, name: str = "nightly", **more: object) -> str:
    new = CreateToken(name=name, **more)  # type: ignore[arg-type]
    return (await office.api_tokens.create(actor, new)).token


async def test_token_acts_for_its_user_with_the_level_at_the_time_of_use(
    office: Office, root: Actor, ada: Actor
) -> None:
    token = await created(office, ada)
    actor = await office.authenticate(token, "10.0.0.1")

    assert (actor.user_uuid, actor.username, actor.token) == (ada.user_uuid, "ada", "nightly")
    assert (actor.ip, actor.session_uuid, actor.level) == ("10.0.0.1", None, 1)

    zero = await office.permissions.create(root, CreatePermission(level=0, name="zero"))
    await office.user_permissions.assign(
        root, CreateAssignment(user_uuid=ada.user_uuid, perm_uuid=zero.uuid)
    )
    assert (await office.authenticate(token)).holds(0)


async def test_token_is_shown_once_and_stored_as_a_keyed_hash(office: Office, ada: Actor) -> None:
    made = await office.api_tokens.create(ada, CreateToken(name="nightly"))

    assert made.token.startswith("pp_")
    assert made.token not in repr(made)
    (listed,) = (await office.api_tokens.all(ada)).first
    assert "token" not in listed.__struct_fields__
    assert "hash" not in listed.__struct_fields__
    async with office.database.read() as tx:
        (record,) = await tx.api_tokens.rows(9)
        entries = [one.entry for one in await tx.audit.newest(WantedEntries(), 9)]
    assert record.hash == KeyedTokens(NEW_KEYS).hashes(made.token)[0]
    assert record.hash != KeyedTokens(OLD_KEYS).hashes(made.token)[0]
    assert record.hash not in repr(record)
    assert entries[0].action == "api_token.created"
    assert record.hash not in str(entries[0].changes)


@pytest.mark.parametrize("change", ["pp_", "pp_" + "a" * 43, "x", "cut", "longer", "other case"])
async def test_other_text_is_refused(office: Office, ada: Actor, change: str) -> None:
    token = await created(office, ada)
    other = {"cut": token[:-1], "longer": token + "a", "other case": token.swapcase()}

    with pytest.raises(Unauthenticated):
        await office.authenticate(other.get(change, change))


async def test_token_is_valid_before_its_end_and_expired_at_it(office: Office, ada: Actor) -> None:
    with pytest.raises(Invalid, match="expires_at must be in the future"):
        await created(office, ada, expires_at=timestamp(office.clock()))
    end = office.clock() + timedelta(seconds=60)
    token = await created(office, ada, expires_at=timestamp(end))

    office.clock.advance(59.999)
    await office.authenticate(token)
    office.clock.advance(0.001)
    with pytest.raises(Unauthenticated):
        await office.authenticate(token)


async def test_user_has_twenty_tokens_also_of_concurrent_requests(
    office: Office, ada: Actor
) -> None:
    for number in range(18):
        await created(office, ada, f"{number}")

    done = await asyncio.gather(
        *(created(office, ada, f"more {number}") for number in range(5)), return_exceptions=True
    )

    assert [type(one) for one in done if not isinstance(one, str)] == [TooManyTokens] * 3


async def test_last_use_is_recorded_to_the_minute_with_one_write(
    office: Office, ada: Actor
) -> None:
    office.clock.advance(60 - office.clock().second)
    token = await created(office, ada)
    writes = []
    write = office.database.write

    def counted(*, by: Actor | None = None) -> object:
        writes.append(by)
        return write(by=by)

    office.database.write = counted  # type: ignore[method-assign, assignment]
    for _ in range(30):
        await asyncio.gather(*(office.authenticate(token) for _ in range(3)))
        office.clock.advance(1)
    assert len(writes) == 1

    office.clock.advance(30)
    await office.authenticate(token)

    assert len(writes) == 2
    (listed,) = (await office.api_tokens.all(ada)).first
    assert listed.last_used_at == f"{timestamp(office.clock())[:16]}:00.000Z"


async def test_token_of_an_older_key_is_hashed_with_the_new_one_when_it_is_used(
    office: Office, ada: Actor
) -> None:
    token = await created(office, ada)
    older, both = KeyedTokens(OLD_KEYS), KeyedTokens(BOTH_KEYS)
    async with office.database.write() as tx:
        (record,) = await tx.api_tokens.rows(1)
        await tx.api_tokens.touch(record.uuid, "", older.hashes(token)[0])
    with pytest.raises(Unauthenticated):
        await office.authenticate(token)

    assert (await office.authenticating(both)(token)).user_uuid == ada.user_uuid

    assert (await office.authenticate(token)).user_uuid == ada.user_uuid


async def test_token_changes_no_password_no_pin_and_no_token(office: Office, root: Actor) -> None:
    actor = await office.authenticate(await created(office, root))
    own = actor.user_uuid
    (token,) = (await office.api_tokens.all(actor)).first

    for change in (
        lambda: office.users.update(actor, own, UserPatch(password="another long password")),
        lambda: office.vendor_users.save(actor, own, CreatePin(pin_code="2468")),
        lambda: office.vendor_users.delete(actor, own),
        lambda: office.api_tokens.create(actor, CreateToken(name="more")),
        lambda: office.api_tokens.delete(actor, token.uuid),
    ):
        with pytest.raises(NeedsLogin):
            await change()

    assert (await office.users.update(actor, own, UserPatch(location="Rome"))).location == "Rome"


async def test_read_only_token_opens_no_writing_transaction(office: Office, root: Actor) -> None:
    actor = await office.authenticate(await created(office, root, read_only=True))

    with pytest.raises(ReadOnlyToken):
        await office.personal_directory.create(actor, actor.user_uuid, CONTACT)
    assert not (await office.personal_directory.of_user(actor, actor.user_uuid)).first


async def test_audit_names_the_token(office: Office, root: Actor) -> None:
    actor = await office.authenticate(await created(office, root))
    await office.personal_directory.create(actor, actor.user_uuid, CONTACT)
    await office.personal_directory.create(root, actor.user_uuid, CONTACT)

    entries = [one.entry for one in await office.audit.newest(root, WantedEntries())]

    assert [one.token for one in entries[:3]] == [None, "nightly", None]


async def test_deleted_token_and_those_of_others(office: Office, root: Actor, ada: Actor) -> None:
    token = await created(office, ada)
    (listed,) = (await office.api_tokens.all(ada)).first

    with pytest.raises(AlreadyExists):
        await created(office, ada)
    with pytest.raises(NotFound):
        await office.api_tokens.delete(root, listed.uuid)
    assert not (await office.api_tokens.all(root)).first
    await created(office, root)
    await office.api_tokens.delete(ada, listed.uuid)

    with pytest.raises(Unauthenticated):
        await office.authenticate(token)
    with pytest.raises(NotFound):
        await office.api_tokens.delete(ada, listed.uuid)


@pytest.mark.parametrize("end", ["deactivated", "deleted"])
async def test_tokens_end_with_their_user(
    office: Office, root: Actor, ada: Actor, end: str
) -> None:
    token = await created(office, ada)
    if end == "deleted":
        await office.users.delete(root, ada.user_uuid)
    else:
        await office.users.update(root, ada.user_uuid, UserPatch(is_active=False))
        with pytest.raises(Unauthenticated):
            await created(office, ada, "after the end")
        await office.users.update(root, ada.user_uuid, UserPatch(is_active=True))

    with pytest.raises(Unauthenticated):
        await office.authenticate(token)
    entries = [one.entry for one in await office.audit.newest(root, WantedEntries())]
    assert "api_token.deleted" in {one.action for one in entries}
