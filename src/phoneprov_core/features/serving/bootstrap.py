"""What a phone fetches before it has a profile: firmware loads, and the bootstrap configuration."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from phoneprov_core.features.serving.model import SharedFiles, phone_seen
from phoneprov_core.features.templates.recipes import (
    RecipeTransaction,
    Rendering,
    recipe_without_user,
)
from phoneprov_core.inventory.configuration.findings import LIST, ONE_FILE
from phoneprov_core.inventory.phone_parts import VendorPhoneStore
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.ports import Clock, ReadAndWrite, Store
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import AuditStore, WantedEntries
from phoneprov_core.switching.devices.names import (
    DEFAULT_FILENAME_PATTERN,
    LARGEST,
    config_filename,
    listed_files,
    plain_name,
)
from phoneprov_core.switching.errors import TemplateFails

_NAMED = 5
"""Maximum number of files that a sentence names."""


class LoadFiles(Struct, frozen=True):
    """The files of a load, its list first. ``present`` is empty if there is neither a list nor a
    load that is one file; ``is_damaged`` says that the list names no file."""

    name: str
    present: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    is_damaged: bool = False

    @property
    def listed(self) -> tuple[str, ...]:
        """All files of the load."""
        return self.present + self.missing

    @property
    def wanted(self) -> str:
        """The names, one of which a load must have."""
        *names, last = (self.name + ending for ending in (LIST, *ONE_FILE))
        return f"{', '.join(names)} or {last}"

    @property
    def fault(self) -> str | None:
        """Why phones cannot get the load, as a sentence; None if they can."""
        if self.is_damaged:
            return f"{self.present[0]} names no file: it is damaged or no list of a load."
        incomplete = f"The load {self.name} is not complete in PHONEPROV_FILES_DIR:"
        if not self.present:
            return f"{incomplete} no file has the name {self.wanted}."
        if not self.missing:
            return None
        names = ", ".join(self.missing[:_NAMED])
        more = len(self.missing) - _NAMED
        names += f" and {more} more" if more > 0 else ""
        return f"{incomplete} missing {names}."


LOCALES = (
    "Dutch_Netherlands",
    "French_France",
    "German_Germany",
    "Italian_Italy",
    "Spanish_Spain",
)
"""What the ``userLocale`` of the shipped templates may name, English apart: phones have that."""

# As in the locale packages of the vendor, and in requests that phones of these loads send.
_LOCALE_FILES = {
    r"sccp(41|42|45|70|75)": "mk-sccp.jar",
    r"sip(41|42|45|70|75)": "mk-sip.jar",
    r"sccp(06|11)": "tc-sccp.jar",
    r"sip88(xx|45_65)": "sl-be-sip.jar",
}


def locale_file(load: str) -> str | None:
    """The file with the texts of a language that phones with this load fetch, from the folder that
    ``userLocale`` names. None if it is not known for these phones."""
    matching = (name for of, name in _LOCALE_FILES.items() if re.match(of, load, re.IGNORECASE))
    return next(matching, None)


@dataclass(frozen=True)
class CheckLoad:
    """Looks for the files of a load."""

    files: SharedFiles

    async def __call__(self, name: str) -> LoadFiles:
        """The files of the list; without a list, the single file of the load. An unreadable list
        counts as missing."""
        listing = name + LIST
        content = await self._content(listing)
        if content is None:
            alone = [name + ending for ending in ONE_FILE if await self._has(name + ending)]
            return LoadFiles(name, tuple(alone[:1]))
        names = listed_files(content)
        if not names:
            return LoadFiles(name, (listing,), is_damaged=True)
        missing: list[str] = []
        present = [listing]
        for one in names:
            (present if await self._has(one) else missing).append(one)
        return LoadFiles(name, tuple(present), tuple(missing))

    async def locales(self, load: str, locales: Sequence[str] = LOCALES) -> dict[str, bool]:
        """The file of each locale for phones with this load, and whether it is there; empty if it
        is not known for these phones."""
        file = locale_file(load)
        names = [f"{locale}/{file}" for locale in locales] if file else []
        return {name: await self._has(name) for name in names}

    async def _has(self, name: str) -> bool:
        file = None if plain_name(name) is None else await self.files.open(name)
        if file is None:
            return False
        file.close()
        return True

    async def _content(self, listing: str) -> bytes | None:
        file = None if plain_name(listing) is None else await self.files.open(listing)
        if file is None:
            return None
        try:
            await file.load(0)
            return file.loaded(0, min(file.size, LARGEST))
        except OSError:
            return None
        finally:
            file.close()


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
    filename_pattern: str = DEFAULT_FILENAME_PATTERN

    async def __call__(self, name: str, mac: str, ip: str, model: str | None) -> bytes | None:
        """The configuration of an adoptable phone, if ``name`` is the name of its configuration;
        else None, also if no variant fits or the template fails (logged). Raises
        ``Unavailable``."""
        if name.lower() != config_filename(self.filename_pattern, mac).lower():
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
