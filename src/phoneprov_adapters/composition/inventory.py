"""Phones, extensions, profiles and what belongs to them."""

from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    new_id,
    setting,
    shared_write,
)
from phoneprov_adapters.composition.people import PeopleContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_core.inventory.extensions import Extensions
from phoneprov_core.inventory.links import Links
from phoneprov_core.inventory.locations import Locations
from phoneprov_core.inventory.notes import Notes
from phoneprov_core.inventory.phone_parts import Kems, VendorPhones
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.inventory.profiles.reading import ReadConfigurations
from phoneprov_core.inventory.profiles.use_cases import Profiles
from phoneprov_core.inventory.vendor_services import VendorServices


class InventoryContainer(PeopleContainer):
    """Phones, extensions, profiles and what belongs to them."""

    # fmt: off
    extensions = singleton(Extensions, database=database, clock=clock, new_id=new_id)
    links = singleton(Links, database=database, clock=clock, new_id=new_id)
    phones = singleton(Phones, database=database, shared_write=shared_write, clock=clock)
    kems = singleton(Kems, database=database, shared_write=shared_write, clock=clock, new_id=new_id)
    notes = singleton(Notes, database=database)
    locations = singleton(Locations, database=database, clock=clock, new_id=new_id)
    vendor_services = singleton(
        VendorServices, database=database, shared_write=shared_write, clock=clock,
        new_id=new_id)
    vendor_phones = singleton(
        VendorPhones, database=database, shared_write=shared_write, clock=clock)
    profiles = singleton(
        Profiles, database=database, clock=clock, new_id=new_id,
        largest_xml=setting(lambda it: it.cnf_xml_max),
        most_profiles=setting(lambda it: it.most_profiles),
        most_revisions=setting(lambda it: it.most_revisions))
    read_configurations = singleton(
        ReadConfigurations, database=database, compare=of(Adapters.compare),
        largest_xml=setting(lambda it: it.cnf_xml_max))
    # fmt: on
