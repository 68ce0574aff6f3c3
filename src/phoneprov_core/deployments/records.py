"""The record of a deployment when it begins, and its events in the audit trail."""

import hashlib

from phoneprov_core.deployments.model import Action, Confirmation, Deployment, Outcome
from phoneprov_core.deployments.order import Order
from phoneprov_core.kernel.trail import Event, Value

_OF_DESKS = frozenset({Action.LOGIN, Action.LOGOUT, Action.EXPIRY})


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
