"""Adapters of the core's ports: databases, servers, phones, secrets, and their composition.

``__all__`` is the public interface: functions that open the whole service without HTTP
(``open_phoneprov``, ``open_in_memory``, ``blocking``), its settings, and the adapters. A name is
imported when it is first used, so that unused adapters cost nothing.
"""

from __future__ import annotations

from phoneprov_core.kernel.lazy import LazyNames

_names = LazyNames(
    __name__,
    {
        "phoneprov_adapters.asterisk.events": ("ManagerEvents",),
        "phoneprov_adapters.asterisk.connection": ("ManagerConnection",),
        "phoneprov_adapters.asterisk.manager": ("Manager",),
        "phoneprov_adapters.asterisk.settings": ("ManagerSettings",),
        "phoneprov_adapters.composition.factories": ("cisco_phones",),
        "phoneprov_adapters.composition.container": ("Container",),
        "phoneprov_adapters.composition.embedding": (
            "InMemory",
            "Run",
            "blocking",
            "open_in_memory",
        ),
        "phoneprov_adapters.ftp.settings": ("FtpSettings",),
        "phoneprov_adapters.ftp.uploader": ("FtpUploader",),
        "phoneprov_adapters.memory.database": ("MemoryDatabase",),
        "phoneprov_adapters.memory.phone": ("MemoryManager", "MemoryPhone"),
        "phoneprov_adapters.memory.system": (
            "CountingIds",
            "FixedClock",
            "PlainHasher",
            "PlainTokens",
        ),
        "phoneprov_adapters.memory.uploader": ("MemoryUploader",),
        "phoneprov_adapters.memory.watch": ("MemoryReachability", "MemoryWatch"),
        "phoneprov_adapters.runtime.networks": ("PhoneNetworks",),
        "phoneprov_adapters.phone.http": ("PhoneWeb", "PhoneWebSettings"),
        "phoneprov_adapters.phone.watch": ("WebWatch",),
        "phoneprov_adapters.composition.plugins": (
            "DATABASES",
            "PHONE_DRIVERS",
            "UPLOADERS",
            "Plugins",
        ),
        "phoneprov_adapters.phone.reachability": ("RealReachability",),
        "phoneprov_adapters.security.argon2": ("Argon2Hasher",),
        "phoneprov_adapters.security.box": ("SecretBox",),
        "phoneprov_adapters.security.keys": ("SecretKeys",),
        "phoneprov_adapters.security.tokens": ("JwtTokens",),
        "phoneprov_adapters.composition.settings": ("Settings", "read_settings"),
        "phoneprov_adapters.simulator.phone": ("SimulatedPhone",),
        "phoneprov_adapters.sql.engines.postgres": ("PostgresDatabase",),
        "phoneprov_adapters.sql.engines.sqlite": ("SqliteDatabase",),
        "phoneprov_adapters.runtime.system": ("random_id", "system_clock"),
        "phoneprov_adapters.composition.variables": ("SettingsError", "Variables"),
        "phoneprov_adapters.composition.lifecycle": ("open_phoneprov",),
    },
)

__all__ = list(_names.all)
__getattr__ = _names.load
__dir__ = _names.dir
