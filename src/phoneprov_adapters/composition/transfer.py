"""Import and export of tables."""

from phoneprov_adapters.composition.adapters import clock, database, setting
from phoneprov_adapters.composition.inventory import InventoryContainer
from phoneprov_adapters.composition.people import PeopleContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.templates import TemplatesContainer
from phoneprov_adapters.files.csv import CsvText
from phoneprov_core.features.transfer.texts import ImportText
from phoneprov_core.features.transfer.use_cases import Transfer


class TransferContainer(TemplatesContainer):
    """Import and export of tables."""

    # fmt: off
    transfer = singleton(
        Transfer, database=database, users=of(PeopleContainer.users),
        extensions=of(InventoryContainer.extensions),
        phones=of(InventoryContainer.phones), kems=of(InventoryContainer.kems),
        locations=of(InventoryContainer.locations), clock=clock,
        company_directory=of(PeopleContainer.company_directory),
        personal_directory=of(PeopleContainer.personal_directory),
        pins=of(PeopleContainer.vendor_users), links=of(InventoryContainer.links),
        profile_use_cases=of(InventoryContainer.profiles),
        template_use_cases=of(TemplatesContainer.templates),
        sounds=setting(lambda it: it.asterisk_languages))
    import_text = singleton(ImportText, transfer=of(transfer), read=CsvText)
    # fmt: on
