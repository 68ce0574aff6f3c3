"""Identities at the provider, the claims of one, and what signs a person in with them."""

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, ClassVar, Protocol

from msgspec import Struct

from phoneprov_core.kernel.errors import Unauthenticated, Unavailable
from phoneprov_core.kernel.fields import SECRET, CreatedAt, RecordUuid, Redacted, UserUuid, schema
from phoneprov_core.kernel.ports import Store
from phoneprov_core.people.auth.model import AuthTransaction, LinkedAccounts

PENDING_SECONDS = 10 * 60
"""How long a sign-in at the provider may take."""

MOST_PENDING = 4
"""Sign-ins that a browser may have begun, one in each tab."""

LEEWAY_SECONDS = 60
"""Maximum difference of the clocks of the service and of the provider."""


class Passwords(Enum):
    """Which accounts log in with their password."""

    ALL = "all"
    UNLINKED = "unlinked"


class Identity(Struct, frozen=True):
    """A person at a provider, and the account that they sign in to."""

    uuid: RecordUuid
    user_uuid: UserUuid
    issuer: Annotated[str, schema("Issuer of the provider")]
    subject: Annotated[str, schema("Identifier of the person at the provider")]
    created_at: CreatedAt


class PendingSignIn(Redacted, frozen=True):
    """A sign-in that a browser began. The three texts are random. ``user_uuid`` and
    ``session_uuid`` belong to a caller who connects their account, empty for a sign-in.
    ``expires_at`` is in milliseconds since 1970."""

    state: Annotated[str, SECRET]
    nonce: Annotated[str, SECRET]
    verifier: Annotated[str, SECRET]
    expires_at: int
    user_uuid: str = ""
    session_uuid: str = ""


class ProviderReply(Redacted, frozen=True):
    """What the provider sent with the browser. ``failed`` is whether it reported an error."""

    state: str = ""
    code: Annotated[str, SECRET] = ""
    issuer: str | None = None
    failed: bool = False


class ProviderClaims(Struct, frozen=True):
    """What a verified ID token says of a person; a text is empty where it says nothing. ``groups``
    is None where the provider names another place for them, as there are too many."""

    subject: str
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    groups: Sequence[str] | None = ()


class SignInPolicy(Struct, frozen=True):
    """Who may sign in: members of ``group``, all people where it is empty. ``create`` is whether
    a person without an account gets one."""

    issuer: str
    group: str = ""
    create: bool = False


class SignInExpired(Unauthenticated):
    """The browser began no such sign-in, more than 10 minutes passed, or it was completed."""

    code = "sign_in_expired"
    usual = "This sign-in has expired; sign in again."


class SignInRefused(Unauthenticated):
    """The provider refused the sign-in, its reply is not valid, or the account is inactive."""

    code = "sign_in_refused"
    usual = "The sign-in was refused."


class NotAMember(Unauthenticated):
    """The person is not a member of the group that may sign in. ``detail`` names a reason that has
    a text of its own."""

    code = "not_a_member"
    usual = "This person is not a member of the group that may sign in."
    detail: ClassVar[str] = ""


class TooManyGroups(NotAMember):
    """The provider left the groups out, as there are too many: membership is not known."""

    usual = (
        "The provider leaves out the groups of a person with this many; it has to send the groups "
        "of this application only."
    )
    detail = "too_many_groups"


class NotLinked(Unauthenticated):
    """No account is linked to the person, and none can be."""

    code = "not_linked"
    usual = (
        "No account is connected with this person; sign in with a password and connect it, or ask "
        "an administrator."
    )


class ProviderUnavailable(Unavailable):
    """The provider does not answer, or not as OpenID Connect demands."""

    code = "provider_unavailable"
    usual = "The sign-in provider cannot be reached; sign in with a password."


class IdentityProvider(Protocol):
    """A provider of OpenID Connect. Each call of it ends within 5 seconds; redirects are not
    followed, and no proxy of the environment is used."""

    async def address(self, pending: PendingSignIn) -> str:
        """The address that a browser is sent to. Raises ``ProviderUnavailable``."""

    async def claims(
        self, pending: PendingSignIn, reply: ProviderReply, now: int
    ) -> ProviderClaims:
        """Exchange the code of a reply for the claims of a verified ID token; ``now`` is in
        milliseconds since 1970. Raises ``ProviderUnavailable``; ``SignInRefused`` if the provider
        refuses the code, or if the reply or the token is not for this sign-in."""


class SignInSeal(Protocol):
    """Seals what a browser keeps of its sign-ins."""

    def random(self) -> str:
        """A new text of at least 256 random bits, 43 characters of base64url."""

    def seal(self, pending: Sequence[PendingSignIn]) -> str:
        """An encrypted text that fits into a cookie."""

    def open(self, text: str) -> list[PendingSignIn]:
        """What was sealed; an empty list for any other text."""


class IdentityStore(Store[Identity], LinkedAccounts, Protocol):
    """Identities by uuid; unique by issuer and subject, and by issuer and account. An account's
    are deleted with it."""

    async def of(self, issuer: str, subject: str) -> Identity | None:
        """The identity of this person, or None."""


class IdentitiesTransaction(AuthTransaction, Protocol):
    """Stores that sign-in with a provider uses."""

    @property
    def identities(self) -> IdentityStore: ...
