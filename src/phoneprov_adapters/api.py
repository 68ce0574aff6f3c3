"""The public names of the adapters: functions that open the service without HTTP, settings, and
the adapters themselves.
"""

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_adapters.asterisk.settings import ManagerSettings
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.embedding import InMemory, Run, blocking, open_in_memory
from phoneprov_adapters.composition.factories import cisco_phones
from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.plugins import DATABASES, PHONE_DRIVERS, UPLOADERS, Plugins
from phoneprov_adapters.composition.reading import read_settings
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.variables import SettingsError, Variables
from phoneprov_adapters.ftp.settings import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.phone import MemoryManager, MemoryPhone
from phoneprov_adapters.memory.system import CountingIds, FixedClock, PlainHasher, PlainTokens
from phoneprov_adapters.memory.uploader import MemoryUploader
from phoneprov_adapters.memory.watch import MemoryReachability, MemoryWatch
from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_adapters.phone.reachability import RealReachability
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.runtime.system import random_id, system_clock
from phoneprov_adapters.security.argon2 import Argon2Hasher
from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.security.tokens import JwtTokens
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase

__all__ = [
    "DATABASES",
    "PHONE_DRIVERS",
    "UPLOADERS",
    "Argon2Hasher",
    "Container",
    "CountingIds",
    "FixedClock",
    "FtpSettings",
    "FtpUploader",
    "InMemory",
    "JwtTokens",
    "Manager",
    "ManagerConnection",
    "ManagerEvents",
    "ManagerSettings",
    "MemoryDatabase",
    "MemoryManager",
    "MemoryPhone",
    "MemoryReachability",
    "MemoryUploader",
    "MemoryWatch",
    "PhoneNetworks",
    "PhoneWeb",
    "PhoneWebSettings",
    "PlainHasher",
    "PlainTokens",
    "Plugins",
    "PostgresDatabase",
    "RealReachability",
    "Run",
    "SecretBox",
    "SecretKeys",
    "Settings",
    "SettingsError",
    "SimulatedPhone",
    "SqliteDatabase",
    "Variables",
    "WebWatch",
    "blocking",
    "cisco_phones",
    "open_in_memory",
    "open_phoneprov",
    "random_id",
    "read_settings",
    "system_clock",
]
