"""The public names of the adapters: functions that open the service without HTTP, settings, and
the adapters themselves.
"""

from phoneprov_adapters.asterisk.connection import (
    ManagerConnection as ManagerConnection,
    ManagerSettings as ManagerSettings,
)
from phoneprov_adapters.asterisk.events import ManagerEvents as ManagerEvents
from phoneprov_adapters.asterisk.manager import Manager as Manager
from phoneprov_adapters.composition.adapters import cisco_phones as cisco_phones
from phoneprov_adapters.composition.container import Container as Container
from phoneprov_adapters.composition.embedding import (
    InMemory as InMemory,
    Run as Run,
    blocking as blocking,
    open_in_memory as open_in_memory,
)
from phoneprov_adapters.composition.forms import PORT as PORT, TRUTH as TRUTH, Form as Form
from phoneprov_adapters.composition.lifecycle import open_phoneprov as open_phoneprov
from phoneprov_adapters.composition.plugins import (
    PHONE_DRIVERS as PHONE_DRIVERS,
    UPLOADERS as UPLOADERS,
    Plugins as Plugins,
)
from phoneprov_adapters.composition.settings import (
    Settings as Settings,
    read_settings as read_settings,
)
from phoneprov_adapters.composition.variables import (
    SettingsError as SettingsError,
    Variables as Variables,
)
from phoneprov_adapters.ftp.steps import FtpSettings as FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader as FtpUploader
from phoneprov_adapters.memory.database import MemoryDatabase as MemoryDatabase
from phoneprov_adapters.memory.devices import (
    MemoryManager as MemoryManager,
    MemoryPhone as MemoryPhone,
    MemoryReachability as MemoryReachability,
    MemoryUploader as MemoryUploader,
    MemoryWatch as MemoryWatch,
)
from phoneprov_adapters.memory.system import (
    CountingIds as CountingIds,
    FixedClock as FixedClock,
    PlainHasher as PlainHasher,
    PlainTokens as PlainTokens,
)
from phoneprov_adapters.phone.http import PhoneWeb as PhoneWeb, PhoneWebSettings as PhoneWebSettings
from phoneprov_adapters.phone.watch import (
    RealReachability as RealReachability,
    WebWatch as WebWatch,
)
from phoneprov_adapters.runtime.networks import PhoneNetworks as PhoneNetworks
from phoneprov_adapters.runtime.tasks import random_id as random_id, system_clock as system_clock
from phoneprov_adapters.security.credentials import Argon2Hasher as Argon2Hasher
from phoneprov_adapters.security.crypto import JwtTokens as JwtTokens, SecretBox as SecretBox
from phoneprov_adapters.security.keys import SecretKeys as SecretKeys
from phoneprov_adapters.simulator.phone import SimulatedPhone as SimulatedPhone
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase as PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase as SqliteDatabase
