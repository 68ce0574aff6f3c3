"""Import and export of tables, and people from a directory."""

from phoneprov_adapters.composition.adapters import clock, database, new_id, setting
from phoneprov_adapters.composition.batches import BatchesContainer
from phoneprov_adapters.composition.inventory import InventoryContainer
from phoneprov_adapters.composition.people import PeopleContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.templates import TemplatesContainer
from phoneprov_adapters.files.csv import csv_rows
from phoneprov_adapters.files.excel import table_in
from phoneprov_adapters.files.ldif import whole_table_in
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.use_cases import Batches
from phoneprov_core.features.sync.model import ImportOrSync
from phoneprov_core.features.sync.use_cases import SyncPeople
from phoneprov_core.features.transfer.edits import EditRecords, Restart
from phoneprov_core.features.transfer.texts import ImportText, ListAsTable
from phoneprov_core.features.transfer.use_cases import Transfer
from phoneprov_core.kernel.actor import Actor


def restart_by(batches: Batches) -> Restart:
    """Restarts phones in a batch."""

    async def restart(actor: Actor, macs: tuple[str, ...]) -> str:
        return (await batches.start(actor, CreateBatch(action="restart", macs=macs))).uuid

    return restart


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
    import_text = singleton(ImportText, transfer=of(transfer), read=table_in)
    list_as_table = singleton(ListAsTable, write=csv_rows)
    edit_records = singleton(
        EditRecords, transfer=of(transfer), vendor_phones=of(InventoryContainer.vendor_phones),
        restart=of(BatchesContainer.batches, restart_by), new_id=new_id)
    # fmt: on


class SyncContainer(TransferContainer):
    """People from a directory."""

    # fmt: off
    sync_people = singleton(
        SyncPeople, database=database, users=of(PeopleContainer.users),
        company_directory=of(PeopleContainer.company_directory), clock=clock)
    import_or_sync = singleton(
        ImportOrSync, import_text=of(TransferContainer.import_text), sync=of(sync_people),
        read=whole_table_in)
    # fmt: on
