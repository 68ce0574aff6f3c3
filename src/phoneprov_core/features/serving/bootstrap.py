"""The configuration of phones that belong to no user yet: it opens the page that asks for a
user."""

import logging
from dataclasses import dataclass
from typing import Protocol

from phoneprov_core.features.serving.model import phone_seen
from phoneprov_core.features.templates.recipes import (
    RecipeTransaction,
    Rendering,
    recipe_without_user,
)
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.vendor_phones import VendorPhoneStore
from phoneprov_core.kernel.store import ReadAndWrite, Store
from phoneprov_core.kernel.system import Clock, timestamp
from phoneprov_core.people.audit import AuditStore, WantedEntries
from phoneprov_core.switching.deployments.model import TemplateFails
from phoneprov_core.switching.devices.names import DEFAULT_FILENAME_TEMPLATE, config_filename

BOOTSTRAP = "bootstrap"
"""The name of the template."""

log = logging.getLogger("phoneprov.provisioning")


class AdoptableTransaction(RecipeTransaction, Protocol):
    """Stores for the decision whether a phone may be adopted at the phone, and for its
    configuration until then."""

    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
    @property
    def audit(self) -> AuditStore: ...


async def is_adoptable(tx: AdoptableTransaction, mac: str) -> bool:
    """Whether a user may adopt a phone at the phone: there is a template, the phone is not in the
    inventory, has no flag that says that it is another device, and was not deleted from the
    inventory, as far as the audit trail reaches. Deleted phones are adopted by level 0."""
    if await tx.phones.find(mac) is not None or not await tx.templates.variants(BOOTSTRAP):
        return False
    flag = await tx.vendor_phones.find(mac)
    if flag is not None and not flag.vendor:
        return False
    deleted = WantedEntries(action="phone.deleted", resource="phone", resource_id=mac)
    return not await tx.audit.newest(deleted, 1)


@dataclass(frozen=True)
class Bootstrap:
    """Renders the template ``bootstrap`` for a phone, without a user."""

    database: ReadAndWrite[AdoptableTransaction]
    rendering: Rendering
    clock: Clock
    filename_template: str = DEFAULT_FILENAME_TEMPLATE

    async def __call__(self, name: str, mac: str, ip: str, model: str | None) -> bytes | None:
        """The configuration of an adoptable phone, if ``name`` is the name of its configuration;
        else None, also if no variant fits or the template fails (logged). Raises
        ``Unavailable``."""
        if name.lower() != config_filename(self.filename_template, mac).lower():
            return None
        async with self.database.read() as tx:
            if not await is_adoptable(tx, mac):
                return None
            phone = phone_seen(mac, ip, model, timestamp(self.clock()))
            recipe = await recipe_without_user(tx, BOOTSTRAP, phone)
        if recipe is None:
            return None
        try:
            return (await self.rendering(recipe)).text.encode()
        except TemplateFails as error:
            log.warning("No bootstrap configuration for %s: %s", mac, error.message)
            return None
