"""Which adapter implements which port."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import Any

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.composition.factories import (
    connection_of,
    database_of,
    journals_of,
    manager_of,
    phone_driver_of,
    rotation_of,
    uploader_of,
    watch_of,
)
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.phone.http import PhoneWeb
from phoneprov_adapters.phone.reachability import RealReachability
from phoneprov_adapters.runtime.comparison import Comparing
from phoneprov_adapters.runtime.system import random_id, system_clock
from phoneprov_adapters.runtime.tasks import OwnedTasks
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.common import is_common
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.security.lookalikes import looks
from phoneprov_adapters.security.pages import HmacPages
from phoneprov_adapters.security.tokens import JwtTokens
from phoneprov_adapters.sql.maintenance.key_rotation import KeyRotation
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.devices.ports import ConfigUploader, ManagerInterface, PhoneDriver
from phoneprov_core.stores import Database
from phoneprov_core.users.passwords import AccountPolicy


class Adapters:
    """The adapters that the settings choose. ``replaced`` are others, by their names here.

    An adapter that may fail or takes long is created when it is first used: a command creates only
    those that it needs. Creating one raises ``SettingsError``.
    """

    def __init__(self, settings: Settings, keys: SecretKeys, **replaced: Any) -> None:
        self.settings = settings
        self.keys = keys
        self.clock = system_clock
        self.new_id = random_id
        self.pause = asyncio.sleep
        self.tasks = OwnedTasks()
        self.box = SecretBox(keys)
        self.tokens = JwtTokens(keys)
        self.signer = HmacPages(keys)
        self.policy = AccountPolicy(
            is_common=is_common,
            looks=looks,
            shortest=settings.shortest_password,
            longest=settings.longest_password,
        )
        self.phone_commands = PhoneWeb(settings.phone_web, settings.phone_networks)
        self.journals = journals_of(settings)
        self.journal = self.journals.deployment
        self.compare = Comparing()
        for name, adapter in replaced.items():
            if name not in vars(self) and not hasattr(Adapters, name):
                raise TypeError(f"There is no adapter {name}.")
            setattr(self, name, adapter)

    @cached_property
    def database(self) -> Database:
        return database_of(self.settings, self.box)

    @cached_property
    def rotation(self) -> KeyRotation:
        return rotation_of(self.settings, self.database, self.keys, self.box)

    @cached_property
    def hasher(self) -> Argon2Hasher:
        return Argon2Hasher(self.keys, workers=self.settings.hash_threads)

    @cached_property
    def uploader(self) -> ConfigUploader:
        return uploader_of(self.settings, self.database)

    @cached_property
    def ami(self) -> ManagerConnection | None:
        return connection_of(self.settings)

    @cached_property
    def manager(self) -> ManagerInterface | None:
        return manager_of(self.ami)

    @cached_property
    def phone_driver(self) -> PhoneDriver:
        return phone_driver_of(self.settings, self.phone_commands, self.manager)

    @cached_property
    def watch(self) -> Watch:
        return watch_of(self.settings, self.phone_commands, self.ami)

    @cached_property
    def reachability(self) -> RealReachability:
        return RealReachability(self.uploader, self.phone_commands)
