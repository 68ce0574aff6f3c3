"""Joiners and leavers."""

import secrets

from phoneprov_adapters.composition.adapters import clock, database, new_id
from phoneprov_adapters.composition.desks import DesksContainer
from phoneprov_adapters.composition.inventory import InventoryContainer
from phoneprov_adapters.composition.people import PeopleContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.composition.templates import TemplatesContainer
from phoneprov_adapters.files.excel import table_in
from phoneprov_core.features.joining.acts import Acts, Parts
from phoneprov_core.features.joining.join import JoinPeople
from phoneprov_core.features.joining.leave import LeavePeople
from phoneprov_core.features.joining.undo import UndoAct

_PIN_DIGITS = 6
_PASSWORD_BYTES = 18


def random_pin() -> str:
    """Six random digits."""
    return f"{secrets.randbelow(10**_PIN_DIGITS):0{_PIN_DIGITS}}"


def random_password() -> str:
    """24 random letters, digits, hyphens and underscores."""
    return secrets.token_urlsafe(_PASSWORD_BYTES)


class JoiningContainer(DesksContainer):
    """Joiners and leavers."""

    # fmt: off
    acts = singleton(
        Acts, database=database, switch=of(SwitchingContainer.switch_profile),
        keep_desks=of(DesksContainer.keep_desks), new_id=new_id,
        parts=of(singleton(
            Parts, users=of(PeopleContainer.users), extensions=of(InventoryContainer.extensions),
            links=of(InventoryContainer.links), pins=of(PeopleContainer.vendor_users),
            profiles=of(InventoryContainer.profiles),
            company_directory=of(PeopleContainer.company_directory),
            templates=of(TemplatesContainer.templates),
            new_pin=random_pin, new_password=random_password)))
    join_people = singleton(JoinPeople, acts=of(acts), clock=clock, read=table_in)
    leave_people = singleton(LeavePeople, acts=of(acts), read=table_in)
    undo_act = singleton(UndoAct, acts=of(acts))
    # fmt: on
