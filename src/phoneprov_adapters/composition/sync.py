"""People from a directory."""

from phoneprov_adapters.composition.adapters import clock, database
from phoneprov_adapters.composition.people import PeopleContainer
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.transfer import TransferContainer
from phoneprov_adapters.files.ldif import whole_table_in
from phoneprov_core.features.sync.texts import ImportOrSync
from phoneprov_core.features.sync.use_cases import SyncPeople


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
