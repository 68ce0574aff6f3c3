"""The caller's own account, its phones, and its API tokens.

An API token is what a user gives to a script in place of a password. A token is shown once, when it
is created; only a keyed hash is stored. It acts for its user with the level that the user holds at
the time of use, and changes no password, no PIN and no token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import Command, record_of, wrong
from phoneprov_core.kernel.errors import Conflict, Unauthenticated, require
from phoneprov_core.kernel.fields import (
    SECRET,
    CreatedAt,
    Line,
    Moment,
    RecordUuid,
    Redacted,
    UserUuid,
    schema,
)
from phoneprov_core.kernel.ports import (
    Clock,
    Listing,
    NewId,
    Page,
    ReadAndWrite,
    Rows,
    Store,
    listing,
)
from phoneprov_core.kernel.values import Timestamp, known_id, timestamp
from phoneprov_core.people.access import (
    AssignmentStore,
    PermissionLevel,
    PermissionName,
    require_login,
)
from phoneprov_core.people.permissions import OwnRight
from phoneprov_core.people.users.model import User
from phoneprov_core.people.users.use_cases import UserStore
from phoneprov_core.people.vendor_users import VendorUser, VendorUserStore

PREFIX = "pp_"
"""The beginning of every API token."""

MOST_TOKENS = 20
"""Maximum number of tokens of a user."""

Name = Annotated[
    Line, schema("Name of the token, unique for its user", examples=["nightly export"])
]
ReadOnly = Annotated[bool, schema("Whether the token only reads", examples=[True])]


class ApiToken(Struct, frozen=True):
    """A token, without the text that authenticates."""

    uuid: RecordUuid
    name: Name
    read_only: ReadOnly
    expires_at: Annotated[Timestamp, schema("End of validity; null without one")] | None
    last_used_at: Annotated[Timestamp, schema("Last use, to the minute; null before")] | None
    created_at: CreatedAt


class CreatedToken(ApiToken, Redacted, frozen=True):
    """A new token."""

    token: Annotated[
        str, SECRET, schema("The token; it is not shown again", examples=["pp_4Zk1..."])
    ]


class CreateToken(Command, frozen=True, kw_only=True):
    """The token to be created."""

    name: Name
    expires_at: (
        Annotated[
            Moment, schema("End of validity, in the future", examples=["2099-12-31T00:00:00.000Z"])
        ]
        | None
    ) = None
    read_only: ReadOnly = False


class ApiTokenRecord(Redacted, frozen=True):
    """A token as it is stored. ``hash`` is one of ``TokenSecrets.hashes``."""

    uuid: RecordUuid
    user_uuid: UserUuid
    name: Name
    read_only: bool
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    created_at: CreatedAt
    hash: Annotated[str, SECRET]


class TokenPrincipal(Struct, frozen=True):
    """The account of a valid token with its level, and the token."""

    user_uuid: str
    level: int | None
    username: str
    uuid: str
    name: str
    read_only: bool
    last_used_at: str | None
    right: str | None = None
    locations: tuple[str, ...] = ()


class ApiTokenStore(Store[ApiTokenRecord], Protocol):
    """Tokens by uuid, unique by the hash, and by the name for one user. Their owner is the user,
    with whom they are deleted. What ``touch`` changes has no audit entry."""

    async def principal(self, hash_: str, now: str) -> TokenPrincipal | None:
        """The token with this hash, its account and the current level, in one query; None if it
        does not exist or ``expires_at`` is not after ``now``, or the account is not active."""

    async def touch(self, uuid: str, at: str, hash_: str) -> None:
        """Record a use, unless a later one is, and replace the hash; no effect without a token."""

    async def end_all(self, user_uuid: str) -> None:
        """Delete every token of the user; each has its audit entry."""


class TokenSecrets(Protocol):
    """Creates tokens, and hashes them with the secret keys."""

    def create(self) -> str:
        """A new token: ``PREFIX`` and at least 256 random bits."""

    def hashes(self, token: str) -> Sequence[str]:
        """The hash of a token under each key, the current one first; none for other text."""


class ApiTokensTransaction(Protocol):
    """Stores that the use cases of tokens use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def api_tokens(self) -> ApiTokenStore: ...


class TooManyTokens(Conflict):
    """The user has the maximum number of tokens."""

    code = "too_many_tokens"
    usual = f"You have {MOST_TOKENS} API tokens, the maximum; delete one first."


@dataclass(frozen=True)
class ApiTokens:
    """Tokens: every caller creates, reads and ends their own tokens; level 0 reads and ends the
    tokens of all users."""

    database: ReadAndWrite[ApiTokensTransaction]
    secrets: TokenSecrets
    clock: Clock
    new_id: NewId

    async def all(
        self, actor: Actor, page: Page = None, user_uuid: str | None = None
    ) -> Listing[ApiToken]:
        """The tokens of ``user_uuid``, by default of the caller, oldest first. Raises ``Forbidden``
        and ``NotFound`` for another user."""
        owner = actor.user_uuid
        if user_uuid is not None:
            require_superadmin(actor)
            async with self.database.read() as tx:
                owner = require(await tx.users.find(known_id(user_uuid)), "user").uuid
        records = await listing(self.database.read, lambda tx: tx.api_tokens, page, owner=owner)
        return records.mapped(lambda record: record_of(ApiToken, record))

    async def create(self, actor: Actor, new: CreateToken) -> CreatedToken:
        """Raises ``Forbidden`` for a caller with a token, ``Invalid``, ``Conflict`` if the name is
        in use or the user has ``MOST_TOKENS``."""
        require_login(actor)
        now = timestamp(self.clock())
        if new.expires_at is not None and new.expires_at <= now:
            raise wrong("expires_at", "must be in the future")
        token = self.secrets.create()
        record = record_of(
            ApiTokenRecord,
            new,
            uuid=self.new_id(),
            user_uuid=actor.user_uuid,
            created_at=now,
            hash=self.secrets.hashes(token)[0],
        )
        async with self.database.write(by=actor) as tx:
            # Locks the user: of two concurrent requests one waits here, and none follows the
            # deactivation that ended the tokens.
            user = await tx.users.find(actor.user_uuid)
            if user is None or not user.is_active:
                raise Unauthenticated("The session has ended; log in again.")
            if await tx.api_tokens.count(actor.user_uuid) >= MOST_TOKENS:
                raise TooManyTokens
            await tx.api_tokens.add(record)
        return record_of(CreatedToken, record, token=token)

    async def delete(self, actor: Actor, uuid: str, user_uuid: str | None = None) -> None:
        """End a token of ``user_uuid``, by default of the caller. Raises ``Forbidden`` for a caller
        with a token and for another user without level 0, ``NotFound`` for a token of another
        user."""
        require_login(actor)
        owner = actor.user_uuid
        if user_uuid is not None:
            require_superadmin(actor)
            owner = known_id(user_uuid)
        async with self.database.write(by=actor) as tx:
            record = await tx.api_tokens.find(known_id(uuid))
            own = record if record and record.user_uuid == owner else None
            await tx.api_tokens.remove(require(own, "API token").uuid)


class OwnPermission(Struct, frozen=True):
    """The caller's permission level and its name."""

    level: PermissionLevel
    perm_name: PermissionName


class MeProfile(User, frozen=True):
    """The caller's account with its permission and its PIN; each null if there is none."""

    permission: Annotated[
        OwnPermission | None, schema("Permission that the account is assigned; null without one")
    ]
    vendor_user: Annotated[
        VendorUser | None, schema("PIN of the account, as a hash; null without one")
    ]
    rights: (
        Annotated[
            tuple[OwnRight, ...],
            schema("What the account may do beside its level; absent without a right"),
        ]
        | UnsetType
    ) = UNSET


PhoneT = TypeVar("PhoneT", bound=Struct)
"""Phones as the inventory shows them to their users."""


class MeTransaction(Protocol[PhoneT]):
    """Stores that the use cases of the caller use."""

    @property
    def users(self) -> UserStore: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def enriched_phones(self) -> Rows[PhoneT]:
        """Every phone of the inventory, each with its flag and its KEMs (oldest first, by creation,
        then uuid) as of one moment. One query, regardless of their number. Phones have no owner."""


# A phone may have many KEMs: long lists are read in pieces of fewer phones.
PIECE = 250


@dataclass(frozen=True)
class Me(Generic[PhoneT]):
    """The caller's own account, and the records that they work with."""

    database: ReadAndWrite[MeTransaction[PhoneT]]

    async def profile(self, actor: Actor) -> MeProfile:
        """The caller's account, permission, PIN and right."""
        async with self.database.read() as tx:
            user = require(await tx.users.find(actor.user_uuid), "user")
            assignment = await tx.assignments.of_user(actor.user_uuid)
            vendor_user = await tx.vendor_users.of_user(actor.user_uuid)
        permission = OwnPermission(assignment.level, assignment.perm_name) if assignment else None
        rights = UNSET if actor.right is None else (OwnRight("helpdesk", actor.scope),)
        return record_of(
            MeProfile, user, permission=permission, vendor_user=vendor_user, rights=rights
        )

    async def phones(self, actor: Actor, page: Page = None) -> Listing[PhoneT]:  # noqa: ARG002
        """Every phone of the inventory, oldest first: all callers may use any phone."""
        return await listing(self.database.read, lambda tx: tx.enriched_phones, page, piece=PIECE)
