"""Which adapter implements which port."""

import asyncio

from dependency_injector import containers, providers

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.composition.factories import (
    calls_of,
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
from phoneprov_core.deployments.observation import Reachability
from phoneprov_core.desks.ports import PageSigner
from phoneprov_core.devices.ports import ConfigUploader, ManagerInterface, PhoneDriver
from phoneprov_core.stores import Database
from phoneprov_core.users.passwords import AccountPolicy


class Adapters(containers.DeclarativeContainer):
    """Pass it ``settings`` and ``keys``; override an adapter before the first object is
    resolved."""

    settings = providers.Dependency(instance_of=Settings)
    keys = providers.Dependency(instance_of=SecretKeys)

    clock = providers.Object(system_clock)
    new_id = providers.Object(random_id)
    pause = providers.Object(asyncio.sleep)
    tasks = providers.Singleton(OwnedTasks)

    box = providers.Singleton(SecretBox, keys)
    database: providers.Provider[Database] = providers.Singleton(database_of, settings, box)
    rotation = providers.Singleton(rotation_of, settings, database, keys, box)
    hasher = providers.Singleton(Argon2Hasher, keys, workers=settings.provided.hash_threads)
    tokens = providers.Singleton(JwtTokens, keys)
    policy = providers.Singleton(
        AccountPolicy,
        is_common=providers.Object(is_common),
        looks=providers.Object(looks),
        shortest=settings.provided.shortest_password,
        longest=settings.provided.longest_password,
    )

    uploader: providers.Provider[ConfigUploader] = providers.Singleton(
        uploader_of, settings, database
    )
    phone_commands = providers.Singleton(
        PhoneWeb, settings.provided.phone_web, settings.provided.phone_networks
    )
    ami: providers.Provider[ManagerConnection | None] = providers.Singleton(connection_of, settings)
    manager: providers.Provider[ManagerInterface | None] = providers.Singleton(manager_of, ami)
    phone_driver: providers.Provider[PhoneDriver] = providers.Singleton(
        phone_driver_of, settings, phone_commands, manager
    )
    journals = providers.Singleton(journals_of, settings)
    journal = journals.provided.deployment
    watch = providers.Singleton(watch_of, settings, phone_commands, ami)
    reachability: providers.Provider[Reachability] = providers.Singleton(
        RealReachability, uploader, phone_commands
    )
    compare = providers.Singleton(Comparing)
    signer: providers.Provider[PageSigner] = providers.Singleton(HmacPages, keys)
    calls = providers.Singleton(calls_of, ami)
