"""What a deployment needs from the world beyond what puts the file in place and tells the phone
(``profiles.ports``): eyes to see the phone come back, and somebody to carry on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol, TypeVar

from msgspec import Struct

from phoneprov_core.deployments.model import Deployment
from phoneprov_core.kernel.fields import schema
from phoneprov_core.phones.model import Phone

T = TypeVar("T")


class DeviceInformation(Struct, frozen=True):
    """What a phone tells of itself (DeviceInformationX); None for what it leaves out.
    ``mac`` is canonical."""

    mac: str | None = None
    model: str | None = None
    load: str | None = None


class PhoneInformation(Protocol):
    """What phones tell of themselves over their own web server."""

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        """Ask once. An answer that makes no sense, or refuses, tells nothing: every field is
        None then, but something answers.

        Raises ``TimedOut`` when the whole answer is not there in time, ``Refused`` when there
        is none, ``Conflict`` when the address is not allowed to be called.
        """
        ...


class Watching(Protocol):
    """One phone that is being watched, since ``PhoneWatch.begin``."""

    async def returned(self, seconds: float) -> str:
        """Wait until the phone was seen to come back; a sentence that says what was seen.

        Only what happens behind ``begin`` counts, and only a phone that was away can come
        back. Raises ``TimedOut`` when it was not seen within so many seconds, ``Refused`` when
        it cannot be seen any more or another phone stands in its place; the message says what
        was seen instead.
        """
        ...

    async def close(self) -> None:
        """Stop watching; to be called once, whatever happened."""
        ...


class PhoneWatch(Protocol):
    """A way to see phones come back."""

    async def begin(self, phone: Phone) -> Watching:
        """Watch from now on: to be called before the phone is told to restart.

        Returns within 4 seconds. Raises ``Refused``, ``TimedOut`` or ``Conflict`` when the
        phone cannot be watched in this way.
        """
        ...


class Reach(Struct, frozen=True):
    """Whether something can be reached, None when nobody can say; what was found, and how long
    it took."""

    reachable: bool | None
    message: Annotated[str, schema(description="What answered, or what kept it from answering")]
    duration_ms: Annotated[int, schema(minimum=0)]


class Reachability(Protocol):
    """Whether a deployment would get through, found out without changing anything."""

    async def server(self, phone_ip: str | None) -> Reach:
        """Log in on the server that the configuration would go to, and leave. Answers within
        3 seconds, whatever happens, and does not raise."""
        ...

    async def phone(self, phone: Phone) -> Reach:
        """Ask the phone's own web server who it is. Another phone at its address counts as not
        reachable. Answers within 3 seconds, whatever happens, and does not raise."""
        ...


Unbroken = Callable[[Awaitable[T]], Awaitable[T]]
"""Port: run to the end, also when whoever awaits is cancelled or gone. The result or the
error goes to whoever still waits. A shutdown waits for what runs."""

Background = Callable[[Awaitable[None]], None]
"""Port: run apart from whoever asks for it. A shutdown ends it at once."""

Aside = Callable[[Callable[[], T]], Awaitable[T]]
"""Port: compute something that takes long without keeping everybody else waiting."""

Journal = Callable[[Deployment], None]
"""Port: told of each deployment when it has ended, and again when its confirmation is known."""
