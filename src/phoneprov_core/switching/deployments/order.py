"""The request of a deployment, the limits of switches, the record, and the audit events."""

import hashlib
import math
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, Protocol, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone, misfit
from phoneprov_core.inventory.profiles.model import Content, ProfileRecord, Revision, SwitchRequest
from phoneprov_core.inventory.profiles.reading import TemplatesOfProfiles
from phoneprov_core.kernel.actor import SUPERADMIN, Actor, Event, Value, may_act_for, may_see_people
from phoneprov_core.kernel.commands import filled
from phoneprov_core.kernel.errors import Conflict, NotFound, require
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import Rate, RateStore, ReadAndWrite
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.access import require_at, visible
from phoneprov_core.switching.deployments.model import Action, Confirmation, Deployment, Outcome
from phoneprov_core.switching.deployments.ports import (
    DeploymentsTransaction,
    RequestPart,
    TemplateSource,
)
from phoneprov_core.switching.devices.names import load_in
from phoneprov_core.switching.errors import (
    PhoneInactive,
    ProfileDoesNotFit,
    ProfileNotAllowed,
    TooManySwitches,
)

SWITCHES_PER_PHONE = 30
PHONES_PER_CALLER = 60
What = Literal["switch", "preview"]

_TEN_MINUTES = 10 * 60 * 1000
_HOUR = 60 * 60 * 1000


class SwitchLimits(Struct, frozen=True):
    """Maximum number of switches of one phone in 10 minutes, and of different phones that a
    caller switches in an hour; 0 for no limit. A login at a phone counts as a switch. Previews,
    which log in to the phone too, have the same limits and counts of their own."""

    per_phone: int = SWITCHES_PER_PHONE
    per_caller: int = PHONES_PER_CALLER

    async def count(
        self, rates: RateStore, actor: Actor, mac: str, now: int, what: What = "switch"
    ) -> None:
        """Count a switch or a preview of a caller without level 0. Raises ``TooManySwitches``."""
        if actor.holds(SUPERADMIN):
            return
        done = {"switch": "switched", "preview": "previewed"}[what]
        phone = Rate(self.per_phone, _TEN_MINUTES)
        if wait := await rates.add(f"{what} of {mac}", phone, now):
            raise _too_many(f"This phone was {done} too often", wait)
        caller, subject = Rate(self.per_caller, _HOUR), f"{what} by {actor.user_uuid}"
        if wait := await rates.add(subject, caller, now, item=f"{mac},"):
            raise _too_many(f"You {done} too many different phones", wait)


DEFAULT_LIMITS = SwitchLimits()


def _too_many(what: str, wait: int) -> TooManySwitches:
    seconds = math.ceil(wait / 1000)
    return TooManySwitches(f"{what}; try again in {seconds} seconds.", retry_after=seconds)


P = TypeVar("P", bound=RequestPart)

OF_DESKS = frozenset({Action.LOGIN, Action.LOGOUT, Action.EXPIRY})
"""The actions that change the user of a phone."""


class DeploymentRequest(Redacted, frozen=True):
    """A phone and the revision for it. ``uuid`` is the uuid of the record; None creates one.
    ``note`` is the message of the record.

    The text of a revision with a template is empty until ``Texts`` has made it; ``source`` is the
    template and the values for it. ``checks_rights`` is whether an earlier text may come back only
    if its user still has the lines in it. ``is_counted`` is whether the limits count it. ``answer``
    is awaited when the file is in place and before the phone is called; its argument is whether the
    file is recorded. A phone that requested the switch gets its response before it is restarted.
    ``forgets_calls`` clears the phone's call history. ``by_right`` is whether the caller may
    request it by a right alone. ``more_follow`` is as in ``Upload``. ``parts`` are the
    participants' data of this request.
    """

    action: Action
    profile: ProfileRecord
    revision: Revision
    cnf_xml: Annotated[str, SECRET]
    phone: Phone
    uuid: str | None = None
    source: TemplateSource | None = None
    note: str | None = None
    checks_rights: bool = False
    is_counted: bool = True
    answer: Callable[[bool], Awaitable[None]] | None = None
    forgets_calls: bool = False
    by_right: bool = False
    more_follow: bool = False
    parts: tuple[RequestPart, ...] = ()

    def part(self, kind: type[P]) -> P | None:
        """The part of this kind, or None."""
        return next((one for one in self.parts if isinstance(one, kind)), None)

    def having(self, part: RequestPart) -> Self:
        """The request with this part in place of one of its kind."""
        return replace(self, parts=(*self.without(type(part)).parts, part))

    def without(self, kind: type[RequestPart]) -> Self:
        """The request without a part of this kind."""
        others = tuple(one for one in self.parts if not isinstance(one, kind))
        return replace(self, parts=others)


class Texts(Protocol):
    """Makes the texts of requests, outside of transactions."""

    @property
    def largest(self) -> int:
        """Maximum size of a configuration in bytes."""

    async def __call__(self, request: DeploymentRequest) -> DeploymentRequest:
        """The request with its text and the ``source`` of the text; unchanged if it has a text.
        Raises ``TemplateFails``."""

    def with_values(
        self, request: DeploymentRequest, values: dict[str, str]
    ) -> DeploymentRequest | None:
        """The request, whose text is not made yet, with other values; None if it uses none."""


async def load_order(
    tx: DeploymentsTransaction,
    action: Action,
    profile: ProfileRecord,
    phone: Phone,
    number: int | None = None,
) -> DeploymentRequest | None:
    """The deployment of a revision of a profile, by default of the newest one; None if the revision
    does not exist. Raises ``NoTemplateFits``, ``ProfileNotAllowed``, and ``NotFound`` if its
    template does not exist."""
    if number is None:
        revision = await tx.revisions.newest(profile.uuid)
    else:
        revision = await tx.revisions.find(profile.uuid, number)
    content = await tx.revisions.content(revision.uuid) if revision else None
    if revision is None or content is None:
        return None
    await require_allowed(tx.template_uses, content, phone)
    if content.template is None:
        return DeploymentRequest(action, profile, revision, content.text, phone)
    recipe = await tx.template_uses.recipe(
        content.template, content.values, profile.user_uuid, phone, profile.software_type
    )
    return DeploymentRequest(action, profile, revision, "", phone, parts=(recipe,))


async def newest_request(
    database: ReadAndWrite[DeploymentsTransaction],
    texts: Texts,
    action: Action,
    profile_uuid: str | None,
    phone: Phone,
) -> DeploymentRequest | None:
    """The request for the newest revision of a profile, with its text; None if it does not exist or
    does not fit the phone."""
    async with database.read() as tx:
        profile = await tx.profiles.find(profile_uuid or "")
        try:
            request = await load_order(tx, action, profile, phone) if profile else None
        except (Conflict, NotFound):  # no variant of its template fits
            return None
    if request is None:
        return None
    try:
        require_fitting(request.profile, phone)
        return await texts(request)
    except Conflict:
        return None


async def require_allowed(templates: TemplatesOfProfiles, content: Content, phone: Phone) -> None:
    """Raises ``ProfileNotAllowed`` for a text that level 0 did not save, if its template is not
    shared (any more), or if it was typed and the phone was adopted with a PIN."""
    if content.by_level_0:
        return
    if content.template is None:
        if phone.adopted_with_pin:
            raise ProfileNotAllowed(
                "This phone was adopted with a PIN: it gets profiles that level 0 made or that "
                "come from a shared template, until level 0 confirms its address."
            )
    elif await templates.is_shared(content.template) is False:
        raise ProfileNotAllowed(
            f"The template {content.template} is not shared, and level 0 did not make this "
            "profile. Ask an administrator to save it."
        )


async def order_of(
    database: ReadAndWrite[DeploymentsTransaction], actor: Actor, request: SwitchRequest
) -> DeploymentRequest:
    """The deployment of a request: the newest revision of the profile, and the phone. Raises
    ``NotFound`` if the phone does not exist or the caller may not see the profile, and like
    ``by_right``."""
    async with database.read() as tx:
        profile = await known_profile(tx, actor, request.profile_uuid)
        phone = require(await tx.phones.find(request.mac), "phone")
        is_by_right = by_right(actor, profile, phone)
        order = require(await load_order(tx, Action.SWITCH, profile, phone), "profile")
    return replace(order, by_right=is_by_right)


async def known_profile(
    tx: DeploymentsTransaction, actor: Actor, profile_uuid: str
) -> ProfileRecord:
    """The profile, if the caller may switch some phone to it. Raises ``NotFound``."""
    if not may_see_people(actor):
        return await visible(actor, tx.profiles, profile_uuid, "profile")
    return require(await tx.profiles.find(known_id(profile_uuid)), "profile")


def by_right(actor: Actor, profile: ProfileRecord, phone: Phone) -> bool:
    """Whether the caller may put the profile onto the phone by a right alone: it is the profile of
    another user. Raises ``Forbidden`` out of the scope of the right; ``ProfileNotAllowed`` for a
    phone that was adopted with a PIN, because the person who adopted it can read its
    configuration."""
    if may_act_for(actor, profile.user_uuid):
        return False
    require_at(actor, phone)
    if phone.adopted_with_pin:
        raise ProfileNotAllowed(
            "This phone was adopted with a PIN: it gets profiles of its own user, until level 0 "
            "confirms its address."
        )
    return True


def require_fitting(profile: ProfileRecord, phone: Phone) -> None:
    """Raises ``Conflict`` if the phone is not active or not compatible with the profile."""
    if not phone.is_active:
        raise PhoneInactive
    objection = misfit(phone, profile.compatible_models, profile.software_type)
    if objection:
        raise ProfileDoesNotFit(f"The profile does not fit this phone: {objection}.")


def new_record(
    order: DeploymentRequest, uuid: str, user_uuid: str, filename: str, created_at: str
) -> Deployment:
    """The record of a deployment that begins; its number is not known yet (0)."""
    content = order.cnf_xml.encode()
    source = order.source
    return filled(
        Deployment,
        uuid=uuid,
        mac=order.phone.mac,
        number=0,
        action=order.action,
        profile_uuid=order.profile.uuid,
        profile_name=order.profile.name,
        revision=order.revision.number,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        owner_uuid=order.profile.user_uuid,
        user_uuid=user_uuid,
        filename=filename,
        outcome=Outcome.RUNNING,
        message=order.note,
        steps=(),
        confirmation=Confirmation.NONE,
        created_at=created_at,
        template_uuid=source and source.template_uuid,
        template_revision=source and source.template_revision,
        template_name=source and source.template_name,
        load=load_in(order.cnf_xml),
    )


def begun_event(record: Deployment) -> Event:
    """The event of a deployment that begins."""
    fields: dict[str, Value] = {
        "mac": record.mac,
        "action": record.action.value,
        "profile_uuid": record.profile_uuid,
        "revision": record.revision,
    }
    return Event("deployment.created", "deployment", record.uuid, fields)


def ended_event(record: Deployment) -> Event:
    """The event of a deployment that ended: ``phone.switched`` and the like once the phone has
    the configuration, else ``phone.switch_failed``."""
    resource = "phone"
    verb = {Action.SWITCH: "switched", Action.ROLLBACK: "rolled_back"}.get(
        record.action, record.action.value
    )
    if record.outcome is not Outcome.DEPLOYED:
        verb = "switch_failed"
    elif record.action in OF_DESKS:
        resource, verb = "desk", record.action.value
    fields: dict[str, Value] = {
        "deployment_uuid": record.uuid,
        "profile_uuid": record.profile_uuid,
        "profile_name": record.profile_name,
        "revision": record.revision,
        "outcome": record.outcome.value,
        "restart": record.restart,
    }
    return Event(f"{resource}.{verb}", resource, record.mac, fields)
