"""What a deployment puts on a phone: the revision, and the login or logout it belongs to."""

from msgspec import Struct

from phoneprov_core.deployments.desk_change import DeskChange
from phoneprov_core.deployments.errors import PhoneInactive, ProfileDoesNotFit
from phoneprov_core.deployments.model import Action
from phoneprov_core.kernel.field_types import redacted
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import ProfileRecord, Revision
from phoneprov_core.profiles.ports import ProfilesTransaction


class Order(Struct, frozen=True):
    """A phone and the revision for it. ``uuid`` is that of the record; None creates one. ``desk``
    is the login or logout that the deployment belongs to; None for a switch and a rollback."""

    action: Action
    profile: ProfileRecord
    revision: Revision
    cnf_xml: str
    phone: Phone
    uuid: str | None = None
    desk: DeskChange | None = None

    def __repr__(self) -> str:
        return redacted(self, "cnf_xml")


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


def require_fitting(profile: ProfileRecord, phone: Phone) -> None:
    """Raises ``Conflict`` if the phone is not active or not compatible with the profile."""
    if not phone.is_active:
        raise PhoneInactive
    objection = profile.objection_to(phone)
    if objection:
        raise ProfileDoesNotFit(f"The profile does not fit this phone: {objection}.")
