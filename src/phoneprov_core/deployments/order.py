"""What a deployment puts on a phone, its record at the beginning, and its audit events."""

import hashlib
from typing import Annotated

from phoneprov_core.deployments.desk_change import DeskChange
from phoneprov_core.deployments.errors import PhoneInactive, ProfileDoesNotFit
from phoneprov_core.deployments.model import Action, Confirmation, Deployment, Outcome
from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.trail import Event, Value
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import ProfileRecord, Revision
from phoneprov_core.profiles.ports import ProfilesTransaction

_OF_DESKS = frozenset({Action.LOGIN, Action.LOGOUT, Action.EXPIRY})


class Order(Redacted, frozen=True):
    """A phone and the revision for it. ``uuid`` is that of the record; None creates one. ``desk``
    is the login or logout that the deployment belongs to; None for a switch and a rollback."""

    action: Action
    profile: ProfileRecord
    revision: Revision
    cnf_xml: Annotated[str, SECRET]
    phone: Phone
    uuid: str | None = None
    desk: DeskChange | None = None


async def load_order(
    tx: ProfilesTransaction,
    action: Action,
    profile: ProfileRecord,
    phone: Phone,
    number: int | None = None,
) -> Order | None:
    """The deployment of a revision of a profile, by default of the newest one; None if the
    revision does not exist."""
    if number is None:
        revision = await tx.revisions.newest(profile.uuid)
    else:
        revision = await tx.revisions.find(profile.uuid, number)
    cnf_xml = await tx.revisions.cnf_xml(revision.uuid) if revision else None
    if revision is None or cnf_xml is None:
        return None
    return Order(action, profile, revision, cnf_xml, phone)


async def current_of(deployments: DeploymentStore, phone: Phone) -> Deployment | None:
    """The current deployment of this phone. None if it is that of an earlier phone of this MAC,
    which was deleted: it may have stood at another address, with another user."""
    current = await deployments.current(phone.mac)
    return current if current and is_of(phone, current) else None


def is_of(phone: Phone, deployment: Deployment) -> bool:
    """Whether a deployment of this MAC is one of this phone."""
    return deployment.created_at >= phone.created_at


def require_fitting(profile: ProfileRecord, phone: Phone) -> None:
    """Raises ``Conflict`` if the phone is not active or not compatible with the profile."""
    if not phone.is_active:
        raise PhoneInactive
    objection = profile.objection_to(phone)
    if objection:
        raise ProfileDoesNotFit(f"The profile does not fit this phone: {objection}.")


def new_record(
    order: Order, uuid: str, user_uuid: str, filename: str, created_at: str
) -> Deployment:
    """The record of a deployment that begins; its number is not known yet (0)."""
    content = order.cnf_xml.encode()
    return Deployment(
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
        place=None,
        outcome=Outcome.RUNNING,
        failed_step=None,
        message=None,
        steps=(),
        restart=None,
        confirmation=Confirmation.NONE,
        confirmation_message=None,
        confirmation_by=None,
        confirmation_at=None,
        created_at=created_at,
        ended_at=None,
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
