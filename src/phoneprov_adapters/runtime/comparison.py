"""Compares configurations without blocking the event loop.

Small texts are compared in a thread. For a large one a thread would compete with the event loop
for the interpreter for up to a second, so it gets a process of its own, which ends with the
comparison and returns its memory. ``python -m`` of this module is that process: MessagePack on
standard input and output, so that no secret is among its arguments or in its environment.
"""

import asyncio
import os
import subprocess
import sys

import msgspec

from phoneprov_core.configuration.comparison import Compared, Comparison, compare
from phoneprov_core.kernel.errors import Unavailable

SMALL = 32 * 1024
"""Maximum number of characters that are compared in a thread: at most about 0.1 s."""

SECONDS = 20.0
"""Deadline of a comparison, including the wait for earlier ones."""

_LOWER_PRIORITY = 10


class Comparing:
    """A ``Compare`` that compares one large pair of texts at a time."""

    def __init__(self, *, small: int = SMALL, seconds: float = SECONDS) -> None:
        self._small = small
        self._seconds = seconds
        self._one = asyncio.Semaphore(1)

    async def __call__(self, comparison: Comparison) -> Compared:
        """Raises ``Unavailable``."""
        if len(comparison.old or "") + len(comparison.new) <= self._small:
            return await asyncio.to_thread(compare, comparison)
        try:
            async with asyncio.timeout(self._seconds), self._one:
                return await asyncio.to_thread(_in_process, comparison, self._seconds)
        except (TimeoutError, subprocess.SubprocessError, OSError):
            raise Unavailable(
                "The configurations could not be compared in time; try again later."
            ) from None


def _in_process(comparison: Comparison, seconds: float) -> Compared:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PHONEPROV_")
    }
    environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
    done = subprocess.run(  # noqa: S603 - no argument comes from outside  # nosec B603
        [sys.executable, "-P", "-m", __name__],
        input=msgspec.msgpack.encode(comparison),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        timeout=seconds,
        check=True,
        start_new_session=True,  # a signal to the service's process group ends the service only
    )
    return msgspec.msgpack.decode(done.stdout, type=Compared)


def main() -> None:
    """Compare what standard input holds."""
    os.nice(_LOWER_PRIORITY)
    comparison = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Comparison)
    sys.stdout.buffer.write(msgspec.msgpack.encode(compare(comparison)))


if __name__ == "__main__":
    main()
