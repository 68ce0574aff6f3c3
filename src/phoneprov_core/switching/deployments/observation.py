"""What is observed of a phone, of its file and of its firmware load, and the ports that observe."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Protocol

from msgspec import Struct

from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.findings import ending_of
from phoneprov_core.inventory.configuration.well_formed import elements_of
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError, Unavailable
from phoneprov_core.kernel.fields import SECRET, DurationMs, Redacted, schema
from phoneprov_core.kernel.ports import Pause
from phoneprov_core.kernel.values import known_mac
from phoneprov_core.switching.deployments.model import Deployment
from phoneprov_core.switching.deployments.ports import Rendered, secrets_of
from phoneprov_core.switching.devices.names import mac_of_device, stated_load, states_load


class DeviceInformation(Struct, frozen=True):
    """What a phone states about itself (DeviceInformationX), its MAC canonical; None if missing."""

    mac: str | None = None
    model: str | None = None
    load: str | None = None
    serial: str | None = None

    @property
    def is_phone(self) -> bool:
        """Whether a phone answered: one of the fields is stated."""
        return self != DeviceInformation()


class PhoneInformation(Protocol):
    """The device information that phones serve over their own web server."""

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        """Send one request. If the reply cannot be parsed, or is an error, every field is None.
        Raises ``TimedOut`` if the reply is not complete within ``seconds``, ``Refused`` if there is
        no reply, ``Conflict`` if the address is not allowed to be called."""


class Identity(Struct, frozen=True):
    """Whether the phone at an address states the expected MAC, a sentence about it, and the model
    that it states, None if it is not the phone or states none."""

    is_confirmed: bool
    message: str
    model: str | None = None


IDENTITY_SECONDS = 3.0
"""Deadline of the check of the phone's identity."""


async def identity_at(information: PhoneInformation, phone_ip: str, mac: str) -> Identity:
    """Ask the phone at an address for its MAC. No login is sent."""
    try:
        found = await information.read(phone_ip, IDENTITY_SECONDS)
    except PhoneprovError as error:
        return Identity(False, f"{phone_ip} did not confirm the MAC address: {error.message}")
    if found.mac is None:
        return Identity(False, f"The web server at {phone_ip} does not state a MAC address.")
    if found.mac != mac:
        return Identity(False, f"Another phone, {found.mac}, answers at {phone_ip}.")
    return Identity(True, f"The phone at {phone_ip} states this MAC address.", found.model)


class Watching(Protocol):
    """A watch of one phone, since ``PhoneWatch.begin``."""

    async def returned(self, seconds: float) -> str:
        """Wait until the phone was seen again; returns a sentence with the observation.

        Only events after ``begin`` count, and the phone must have been absent first. Raises
        ``TimedOut`` if it was not seen within ``seconds``, ``Refused`` if it can no longer be
        watched or another phone answers at its address; the message contains the observation.
        """

    async def close(self) -> None:
        """Stop watching; to be called exactly once."""


class PhoneWatch(Protocol):
    """Observes that phones register again."""

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:
        """Start watching; to be called before the phone is restarted. The ``software_type`` of the
        phone decides which events are observed.

        With ``is_restarting`` the phone was restarted before, under a watch that was interrupted:
        if it is absent now, it needs only to be seen again.

        Returns within 5 seconds. Raises ``Refused``, ``TimedOut`` or ``Conflict`` if the
        phone cannot be watched in this way.

        """


class Reach(Struct, frozen=True):
    """Whether a server or phone can be reached, None if unknown; a message, and the duration."""

    reachable: Annotated[
        bool | None, schema("Whether the check succeeded; null if unknown", examples=[True])
    ]
    message: Annotated[str, schema("Response, or reason why there was none")]
    duration_ms: DurationMs


FileState = Literal["as_deployed", "changed", "missing", "unknown"]
"""The file on the server, compared with the deployed one; unknown also without one."""


class ServerFile(Redacted, frozen=True):
    """What a server sends of a file: its first bytes, None if it refuses them, and whether it lists
    the file, None if that is not known."""

    content: Annotated[bytes | None, SECRET]
    is_listed: bool | None = None

    def compared_with(self, sha256: str | None) -> FileState:
        """The state of the file whose content has this SHA-256 (hex) when it is deployed."""
        if self.content is None:
            return "missing" if self.is_listed is False else "unknown"
        return "as_deployed" if hashlib.sha256(self.content).hexdigest() == sha256 else "changed"


class Reachability(Protocol):
    """Checks whether server and phone can be reached, without changing anything."""

    async def server(self, phone_ip: str | None, seconds: float = 3.0) -> Reach:
        """Log in on the server of the uploads, and out, within ``seconds``. Does not raise."""

    async def file(
        self, phone_ip: str | None, filename: str, limit: int
    ) -> tuple[Reach, ServerFile | None]:
        """Log in on the server of the uploads, read the first ``limit`` bytes of a file, and log
        out; without the file if that did not succeed, or the uploader cannot read files. Always
        returns within 3 seconds and does not raise."""

    async def phone(self, phone: Phone) -> Reach:
        """Read the MAC from the phone's own web server. Another phone at its address counts as
        not reachable. Always returns within 3 seconds and does not raise."""


PATH = "/DeviceInformationX"
"""The path of the page on Cisco's phones; it is XML."""


def read_device_information(status: int, body: bytes) -> DeviceInformation:
    """The information in a reply; every field is None if it cannot be parsed."""
    if status != 200:
        return DeviceInformation()
    try:
        elements = elements_of(body)
    except ValueError:
        return DeviceInformation()
    texts = {one.name: one.text for one in reversed(elements)}
    return DeviceInformation(
        mac=known_mac(texts.get("MACAddress", ""))
        or mac_of_device(texts.get("HostName", ""))
        or None,
        model=_line(texts.get("modelNumber")),
        serial=_line(texts.get("serialNumber")),
        load=stated_load(_line(texts.get("appLoadID")), _line(texts.get("versionID"))),
    )


def _line(text: str | None) -> str | None:
    """One short line without control characters: it goes into messages."""
    line = " ".join((text or "").split())
    return line[:64] if line.isprintable() and line else None


_CHANGED = "Another program changed the file on the server; the switch replaces it."
_MISSING = "The file is missing on the server; the switch stores it again."
_NOT_SHOWN = " Its content is not shown: it is no configuration of at most {limit} bytes in UTF-8."


class OnServer(NamedTuple):
    """Whether the login on the server succeeds, and the file there: its state, the masked
    difference, and what happens to it."""

    reach: Reach
    file: FileState = "unknown"
    diff: str | None = None
    note: str | None = None


async def on_server(
    reachability: Reachability,
    compare: Compare,
    phone_ip: str | None,
    deployed: Deployment | None,
    text: Rendered | None,
    limit: int,
) -> OnServer:
    """Compare the file on the server with the deployment in place, in one session. ``text`` is what
    was deployed, None if the caller may not see it: then the file is not shown either. ``limit`` is
    the maximum size of a configuration."""
    if deployed is None:
        return OnServer(await reachability.server(phone_ip))
    reach, found = await reachability.file(phone_ip, deployed.filename, limit + 1)
    state = "unknown" if found is None else found.compared_with(deployed.sha256)
    if state == "missing":
        return OnServer(reach, state, note=_MISSING)
    if found is None or found.content is None or state != "changed":
        return OnServer(reach, state)
    if text is None:
        return OnServer(reach, state, note=_CHANGED)
    diff = None
    if len(found.content) <= limit:
        with suppress(UnicodeDecodeError, Unavailable):
            comparison = Comparison(
                old=text.text,
                new=found.content.decode(),
                old_secrets=secrets_of(text),
                old_label=label("as deployed", deployed.profile_name, deployed.revision),
                new_label=f"on the server now: {deployed.filename}",
                is_foreign=True,
            )
            diff = (await compare(comparison)).diff
    return OnServer(reach, state, diff, _CHANGED + ("" if diff else _NOT_SHOWN.format(limit=limit)))


def label(where: str, name: str, revision: int) -> str:
    """The label of a deployed configuration in a diff."""
    return f"{where}: {' '.join(name.split())}, revision {revision}"


LOAD_MINUTES = 10
"""Default time of a load to arrive, after the phone was seen to restart: it fetches its files, and
restarts again."""

_READ_SECONDS = 2.0
_OFTEN_SECONDS, _OFTEN_UNTIL, _SELDOM_SECONDS = 5.0, 60.0, 20.0
"""Seconds between two requests to a phone: at first, until when, and later."""

FilesOfLoad = Callable[[str], Awaitable[Sequence[str]]]
"""Port: the names of all files of a load; none if they are not known."""


class StatedLoad(Struct, frozen=True):
    """What a phone stated. ``runs`` is whether it runs the load, None if that is not known;
    ``answers`` whether it answered at all."""

    load: str
    runs: bool | None = None
    stated: str | None = None
    answers: bool = False

    def missed(self, minutes: int) -> str:
        """Why the load is not confirmed after this time, in a sentence."""
        begin = f"The load {self.load} did not arrive"
        if self.runs is None:
            begin = f"It is not known whether the load {self.load} arrived"
        return f"{begin} within {minutes} minutes: {self.observed}."

    @property
    def observed(self) -> str:
        """What the phone stated, as the end of a sentence."""
        if self.stated is not None:
            return f"the phone runs {self.stated}"
        return "the phone states no firmware" if self.answers else "its web server does not answer"


@dataclass(frozen=True)
class Arrival:
    """Asks phones which firmware they run. A load has ``minutes`` to arrive; 0: loads are
    not compared. ``files`` is None without a folder of files."""

    information: PhoneInformation
    pause: Pause
    minutes: int = LOAD_MINUTES
    files: FilesOfLoad | None = None

    async def stated(self, phone: Phone, load: str) -> StatedLoad:
        """What the phone states now."""
        try:
            found = await self.information.read(phone.phone_ip or "", _READ_SECONDS)
        except PhoneprovError:
            return StatedLoad(load)
        if not found.is_phone or found.mac not in {None, phone.mac}:
            return StatedLoad(load)
        files: Sequence[str] = ()
        if self.files is not None and found.load and ending_of(found.load):
            files = await self.files(load)
        return StatedLoad(load, states_load(found.load, load, files), found.load, answers=True)

    async def wait(self, passed: float) -> None:
        """The pause before the next request, ``passed`` seconds after the first one."""
        await self.pause(_OFTEN_SECONDS if passed < _OFTEN_UNTIL else _SELDOM_SECONDS)
