"""Ports of deployments: stores, background tasks, journal; and the text of a deployment, with the
places of secrets and lines in it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import SignsOfLife
from phoneprov_core.inventory.profiles.reading import ProfilesTransaction, TemplatesOfProfiles
from phoneprov_core.kernel.actor import UseCaseTrail
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import NewestRows, RateStore, Store
from phoneprov_core.people.permissions import Right
from phoneprov_core.people.users.model import User
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter, Outcome


class ValuePlace(Struct, frozen=True, array_like=True):
    """A place of a rendered text that comes from a given name: byte offsets, the name
    (``lines.number``), and whether it is secret."""

    start: int
    end: int
    name: str
    secret: bool


class UsedLine(Redacted, frozen=True, array_like=True):
    """A line that a text was rendered with: its number, and its password if that was read."""

    number: str
    password: Annotated[str | None, SECRET]


class Rendered(Redacted, frozen=True):
    """A rendered text, and where given names are in it, in order. Texts of the template itself have
    no mark. ``lines`` are the elements of ``lines`` whose number, name or password was read, also
    in a condition, in their order."""

    text: Annotated[str, SECRET]
    marks: tuple[ValuePlace, ...] = ()
    lines: tuple[UsedLine, ...] = ()


class TemplateSource(Redacted, frozen=True):
    """What a text was rendered from, and where given names are in it."""

    template_uuid: str
    template_revision: int
    template_name: str
    rendered: Rendered


class RequestPart(Redacted, frozen=True):
    """Base class of the data that one participant of a deployment adds to its request."""


def secrets_of(rendered: Rendered | None) -> tuple[tuple[int, int], ...]:
    """The places of the secrets of a rendered text, as byte offsets."""
    marks = () if rendered is None else rendered.marks
    return tuple((mark.start, mark.end) for mark in marks if mark.secret)


class RenderingStore(Protocol):
    """The texts that were rendered for deployments, encrypted, deleted with their profiles."""

    async def keep(
        self, deployment: Deployment, rendered: Rendered, needed: Sequence[Deployment]
    ) -> None:
        """Store the text of a deployment with the numbers of its lines. Equal texts of one profile
        for one phone are stored once. Deletes the texts of the phone except the 10 newest and the
        texts of the ``needed`` deployments. Raises ``NotFound`` if the profile does not exist."""

    async def of(self, deployment: Deployment) -> Rendered | None:
        """The text of a deployment, or None if it is no longer stored."""


T = TypeVar("T")


class DeploymentStore(Protocol):
    """The record of deployments, by uuid. The current deployment of a phone has the
    largest number of all deployments with a place, whichever account it belongs to."""

    async def add(self, deployment: Deployment) -> None:
        """Store a new record. The records that it names need not exist. Raises ``Conflict`` (code
        ``already_exists``) if the phone has a deployment of this number."""

    async def find(self, key: str) -> Deployment | None:
        """The deployment, or None. In a writing transaction no other changes it until the end."""

    async def put(self, deployment: Deployment) -> None:
        """Replace a stored record. Raises ``NotFound`` if it does not exist."""

    def matching(
        self,
        wanted: DeploymentFilter,
        *,
        also: Sequence[str] = (),
        places: Sequence[str] | None = None,
    ) -> NewestRows[Deployment]:
        """The deployments that match every field of ``wanted`` that is set, with deployments to the
        phones ``also`` as if they were to its ``mac``. They belong to the
        account that requested them, and to the owner of the profile that was deployed; with
        ``places`` deployments to phones that are at one of these locations belong to every account,
        too."""

    async def current(self, mac: str) -> Deployment | None:
        """The current deployment of the phone, or None if there is none."""

    async def in_place(self, mac: str) -> Deployment | None:
        """The deployment whose file is certainly in place, as far as this service knows: the
        current deployment of the phone, or None if another file may be in place. Another file may
        be in place if the outcome is unknown, if a later deployment is running or was interrupted,
        or if the deployment belongs to a deleted phone with the same MAC."""

    async def previous(self, current: Deployment) -> Deployment | None:
        """The deployment of the phone before ``current`` with another configuration: of all with
        a place and a smaller number the last that ``brought_other_than`` the current one."""

    async def placed_before(self, deployment: Deployment) -> Deployment | None:
        """The latest deployment of the phone with a place before this deployment, or None."""

    async def rendered_from(self, name: str) -> set[str]:
        """The phones, by MAC, whose current deployment was rendered from the template of this name:
        its variant has this name now or had it then, also if the variant or the profile was
        deleted."""

    async def interrupt_abandoned(self, now: str) -> int:
        """Mark as interrupted, at ``now``, every running deployment whose phone's lease was lost,
        has expired, or has another holder. One whose restart may have been sent awaits its
        confirmation until its ``confirmation_by``. Returns their number."""


class LeaseStore(Protocol):
    """Leases of phones: one holder at a time across all processes. Leases use the clock of the
    database, so that clocks of hosts may differ."""

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        """Acquire the phone for ``seconds``, in one statement. Returns the fence, a number that
        grows with every acquisition of this phone, or None while another holder has the lease. An
        expired lease can be acquired."""

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        """Release the lease. Returns False and changes nothing if it was lost."""

    async def continue_after(self, mac: str, fence: int) -> None:
        """Make the next fence of a phone greater than ``fence``, the fence of another phone. It
        must have had a lease, and have none now."""

    async def is_held(
        self, mac: str, holder: str, fence: int, *, even_expired: bool = False
    ) -> bool:
        """Whether this is the lease of the phone: no other holder followed, and it was not released
        and has not expired; with ``even_expired`` only whether no other one followed. In a writing
        transaction no other acquires the phone until the transaction ends."""

    async def holder(self, mac: str) -> str | None:
        """The holder of the phone's lease, or None."""

    async def release_of(self, process: str) -> None:
        """Release every lease that this process acquired; to be called only when it has ended."""


class ReplacementChain(Protocol):
    """The part of the store of replaced phones that deployments use."""

    async def earlier(self, mac: str) -> list[str]:
        """The phones that this phone replaced, and their predecessors, by MAC; in one query."""


class TemplatesOfDeployments(TemplatesOfProfiles, Protocol):
    """The part of templates that deployments use."""

    async def recipe(
        self, name: str, values: dict[str, str], owner: str, phone: Phone, family: str | None
    ) -> RequestPart:
        """What the text of a profile is made from for a phone: the template of this name, the
        values of the profile, its owner, and its firmware family. Raises ``NotFound`` if template
        or owner do not exist, ``NoTemplateFits``."""


class PhonesOfDeployments(Store[Phone], Protocol):
    """The part of phones that deployments use."""

    async def counts(self, field: str, *, active_only: bool = False) -> dict[str | None, int]:
        """The number of phones of each value of a field; with ``active_only`` of active ones."""


class DeploymentsTransaction(ProfilesTransaction, Protocol):
    """Stores that every deployment uses. Those who take part name more; see ``Participant``."""

    @property
    def users(self) -> Store[User]: ...
    @property
    def phones(self) -> PhonesOfDeployments: ...
    @property
    def deployments(self) -> DeploymentStore: ...
    @property
    def replacements(self) -> ReplacementChain: ...
    @property
    def template_uses(self) -> TemplatesOfDeployments: ...
    @property
    def renderings(self) -> RenderingStore: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def rights(self) -> Store[Right]: ...
    @property
    def fleet(self) -> SignsOfLife: ...
    @property
    def trail(self) -> UseCaseTrail: ...


RunToEnd = Callable[[Awaitable[T]], Awaitable[T]]
"""Port: run a task to its end, also if the caller is cancelled. The result or the error is passed
to a caller that still waits. A shutdown waits for running tasks."""

Background = Callable[[Awaitable[None]], None]
"""Port: run a task in the background. A shutdown cancels it."""

Journal = Callable[[Deployment], None]
"""Port: called with each deployment when it has ended, and again when its confirmation is known."""


async def deployed_text(tx: DeploymentsTransaction, deployment: Deployment) -> Rendered | None:
    """The exact text that a deployment put onto its phone; None if it is no longer stored."""
    if deployment.template_uuid is not None:
        return await tx.renderings.of(deployment)
    revision = await tx.revisions.find(deployment.profile_uuid, deployment.revision)
    content = await tx.revisions.content(revision.uuid) if revision else None
    return None if content is None else Rendered(content.text)


async def current_of(deployments: DeploymentStore, phone: Phone) -> Deployment | None:
    """The current deployment of this phone. None if it belongs to an earlier phone with this MAC,
    which was deleted: it may have had another address and user."""
    current = await deployments.current(phone.mac)
    return current if current and is_of(phone, current) else None


def is_of(phone: Phone, deployment: Deployment) -> bool:
    """Whether a deployment of this MAC is one of this phone."""
    return deployment.created_at >= phone.created_at


async def rollback_target(deployments: DeploymentStore, mac: str) -> Deployment | None:
    """The last deployment before the current one with certainly another configuration, or None."""
    current = await deployments.current(mac)
    if current is None:
        return None
    earlier = await deployments.previous(current)
    while earlier is not None and earlier.outcome is Outcome.UNKNOWN:
        since = replace(current, number=earlier.number)
        earlier = await deployments.previous(since)
    return earlier
