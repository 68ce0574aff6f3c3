"""What a deployment puts on a phone, the login or logout that it belongs to, its record at the
beginning, and its audit events."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.records import DeskUse, EarlierUse
from phoneprov_core.features.templates.model import is_shared
from phoneprov_core.features.templates.recipes import Recipe, recipe_for
from phoneprov_core.features.templates.use_cases import Rendered, TemplateStore
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import Content, ProfileRecord, Revision, SwitchRequest
from phoneprov_core.kernel.actor import Actor, Event, Value
from phoneprov_core.kernel.commands import filled
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.people.access import visible
from phoneprov_core.switching.deployments.model import (
    Action,
    Confirmation,
    Deployment,
    Outcome,
    PhoneInactive,
    ProfileDoesNotFit,
    ProfileNotAllowed,
)
from phoneprov_core.switching.deployments.ports import DeploymentStore, DeploymentsTransaction
from phoneprov_core.switching.devices.loads import load_in


async def _no_answer(_is_recorded: bool) -> None:
    """No phone waits for an answer."""


class DeskChange(Struct, frozen=True):
    """A login or a logout that is part of a deployment: who uses the phone afterwards.

    ``turn`` is the turn of the phone in which it was asked for, None for any. ``left`` is whether
    the user of the profile has left the phone, which keeps it. ``answer`` is
    awaited once the file is in place, before the phone is called, with whether the use is recorded:
    the phone that asked gets its answer before it is restarted. ``forget_calls`` clears the phone's
    call history.
    """

    use: DeskUse
    turn: int | None = None
    left: bool = False
    refuse_elsewhere: bool = False
    end_elsewhere: bool = False
    forget_calls: bool = False
    answer: Callable[[bool], Awaitable[None]] = _no_answer


_OF_DESKS = frozenset({Action.LOGIN, Action.LOGOUT, Action.EXPIRY})


class TemplateSource(Redacted, frozen=True):
    """What a text was rendered from, and where given names are in it."""

    template_uuid: str
    template_revision: int
    template_name: str
    rendered: Rendered


class DeploymentRequest(Redacted, frozen=True):
    """A phone and the revision for it. ``uuid`` is that of the record; None creates one. ``desk``
    is the login or logout that the deployment belongs to; None for a switch and a rollback.
    ``back`` is the use that a rollback gives back with the text, ``note`` what its record says
    about that.

    The text of a revision with a template is empty until the ``recipe`` is rendered; ``source`` is
    the result. ``checks_rights`` is whether an earlier text may come back only if its user still
    has the lines in it.
    """

    action: Action
    profile: ProfileRecord
    revision: Revision
    cnf_xml: Annotated[str, SECRET]
    phone: Phone
    uuid: str | None = None
    desk: DeskChange | None = None
    recipe: Recipe | None = None
    source: TemplateSource | None = None
    back: EarlierUse | None = None
    note: str | None = None
    checks_rights: bool = False

    @property
    def is_of_batch(self) -> bool:
        """Whether it is one of a batch, which names the record."""
        return self.uuid is not None and self.desk is None


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
    await require_allowed(tx.templates, content, phone)
    if content.template is None:
        return DeploymentRequest(action, profile, revision, content.text, phone)
    recipe = await recipe_for(
        tx, content.template, content.values, profile.user_uuid, phone, profile.software_type
    )
    return DeploymentRequest(action, profile, revision, "", phone, recipe=recipe)


async def require_allowed(templates: TemplateStore, content: Content, phone: Phone) -> None:
    """Raises ``ProfileNotAllowed`` for a text that level 0 did not save: of a template that is not
    shared, or no longer, and a typed one for a phone that was adopted with a PIN."""
    if content.by_level_0:
        return
    if content.template is None:
        if phone.adopted_with_pin:
            raise ProfileNotAllowed(
                "This phone was adopted with a PIN: it gets profiles that level 0 made or that "
                "come from a shared template, until level 0 confirms its address."
            )
    elif not is_shared(await templates.variants(content.template)):
        raise ProfileNotAllowed(
            f"The template {content.template} is not shared, and level 0 did not make this "
            "profile. Ask an administrator to save it."
        )


async def deployed_text(tx: DeploymentsTransaction, deployment: Deployment) -> Rendered | None:
    """The exact text that a deployment put onto its phone; None if it is no longer stored."""
    if deployment.template_uuid is not None:
        return await tx.renderings.of(deployment)
    revision = await tx.revisions.find(deployment.profile_uuid, deployment.revision)
    content = await tx.revisions.content(revision.uuid) if revision else None
    return None if content is None else Rendered(content.text)


async def order_of(
    database: ReadAndWrite[DeploymentsTransaction], actor: Actor, request: SwitchRequest
) -> DeploymentRequest:
    """The deployment of a request: the newest revision of the profile, and the phone. Raises
    ``NotFound`` if the phone does not exist or the caller may not see the profile."""
    async with database.read() as tx:
        profile = await visible(actor, tx.profiles, request.profile_uuid, "profile")
        phone = require(await tx.phones.find(request.mac), "phone")
        return require(await load_order(tx, Action.SWITCH, profile, phone), "profile")


async def current_of(deployments: DeploymentStore, phone: Phone) -> Deployment | None:
    """The current deployment of this phone. None if it is that of an earlier phone of this MAC,
    which was deleted: it may have stood at another address, with another user."""
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


def require_fitting(profile: ProfileRecord, phone: Phone) -> None:
    """Raises ``Conflict`` if the phone is not active or not compatible with the profile."""
    if not phone.is_active:
        raise PhoneInactive
    objection = profile.objection_to(phone)
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
    elif record.action in _OF_DESKS:
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
