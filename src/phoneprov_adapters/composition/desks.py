"""Logins at phones, and the pages on their screens."""

from collections.abc import Iterator

from phoneprov_adapters.composition.adapters import (
    Adapters,
    background,
    calls,
    clock,
    database,
    driver,
    hasher,
    networks,
    new_id,
    pause,
    setting,
    signer,
)
from phoneprov_adapters.composition.inventory import InventoryContainer
from phoneprov_adapters.composition.plugins import Periodic, of, singleton
from phoneprov_adapters.composition.serving import ServingContainer
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_core.features.desks.access import (
    IdentifyPhone,
    PageTokens,
    PhoneCredentials,
    ServiceMenu,
)
from phoneprov_core.features.desks.adoption import AdoptAtPhone
from phoneprov_core.features.desks.change import ChangeDesk
from phoneprov_core.features.desks.login import ChangePin, LogInAtPhone
from phoneprov_core.features.desks.model import Elsewhere
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.desks.pins import CheckPin
from phoneprov_core.features.desks.upkeep import KeepDesks
from phoneprov_core.features.desks.use_cases import Desks, LogOut, PhoneServices
from phoneprov_core.kernel.actor import system_actor
from phoneprov_core.people.directory.use_cases import LookUp
from phoneprov_core.people.throttle import AddressLimit


class DesksContainer(ServingContainer):
    """Logins at phones, and the pages on their screens."""

    # fmt: off
    occupancy = singleton(
        Occupancy, clock=clock, serves_lines=setting(lambda it: it.serves_lines),
        several_logins=setting(lambda it: it.desks.elsewhere is Elsewhere.ALLOW))
    change_desk = singleton(
        ChangeDesk, database=database, deploy=of(SwitchingContainer.deploy), driver=driver,
        calls=calls,
        run_to_end=of(Adapters.tasks, lambda it: it.run), pause=pause, clock=clock,
        clear_calls=setting(lambda it: it.desks.clear_calls),
        serves_lines=setting(lambda it: it.serves_lines))
    page_tokens = singleton(PageTokens, signer=signer, clock=clock)
    log_out_at_phone = singleton(
        LogOut, database=database, change=of(change_desk), tokens=of(page_tokens))
    pin_limit = singleton(
        AddressLimit, kind="pin", most=setting(lambda it: it.guesses_per_address),
        clock=clock)
    check_pin = singleton(
        CheckPin, database=database, hasher=hasher, clock=clock, limit=of(pin_limit),
        journal=of(Adapters.journals, lambda it: it.pin_failure))
    identify_phone = singleton(
        IdentifyPhone, database=database, networks=networks,
        binding=setting(lambda it: it.desks.binding), clock=clock, background=background)
    log_in_at_phone = singleton(
        LogInAtPhone, database=database, check_pin=of(check_pin), change=of(change_desk),
        tokens=of(page_tokens), policy=setting(lambda it: it.desks), clock=clock)
    change_pin = singleton(
        ChangePin, database=database, check_pin=of(check_pin), hasher=hasher,
        tokens=of(page_tokens), clock=clock, new_id=new_id)
    credentials = singleton(
        PhoneCredentials, database=database, user=setting(lambda it: it.phone_web.user),
        password=setting(lambda it: it.phone_web.password), networks=networks, clock=clock)
    adopt_at_phone = singleton(
        AdoptAtPhone, database=database, check_pin=of(check_pin), change=of(change_desk),
        information=of(Adapters.phone_commands), tokens=of(page_tokens), networks=networks,
        limits=of(SwitchingContainer.limits), clock=clock, new_id=new_id,
        is_on=setting(lambda it: it.adopts),
        by_page=setting(lambda it: it.uploader != "served"), repeats=of(ServingContainer.repeats))
    phone_services = singleton(
        PhoneServices, identify=of(identify_phone), menu=of(singleton(ServiceMenu,
        database=database)), log_in=of(log_in_at_phone), log_out=of(log_out_at_phone),
        change_pin=of(change_pin), look_up=of(singleton(LookUp, database=database)),
        credentials=of(credentials),
        adopt=of(adopt_at_phone))
    desks = singleton(
        Desks, database=database, phones=of(InventoryContainer.phones),
        log_out_at_phone=of(log_out_at_phone), clock=clock)
    keep_desks = singleton(
        KeepDesks, database=database, change=of(change_desk),
        actor=of(singleton(system_actor, level_rule=of(Adapters.level_rule))),
        clock=clock, policy=setting(lambda it: it.desks))
    # fmt: on


LOOK_SECONDS = 2.0
"""Seconds between two searches for logins that are over and desks that are unsettled."""


def repeated(container: DesksContainer) -> Iterator[Periodic]:
    """End logins whose time is over, and repair interrupted ones."""
    yield Periodic(container.keep_desks(), LOOK_SECONDS)
