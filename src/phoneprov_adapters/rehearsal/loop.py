"""An event loop whose time jumps: nothing in it waits."""

import asyncio
import selectors
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any


class _Jumping(selectors.DefaultSelector):
    """Passes the time until the next timer at once. There is nothing else to wait for: no socket
    is registered, and work for threads is done in the loop."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("the rehearsal waits for something that never happens")
        self.now += max(0.0, timeout)
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    """See above. ``clock`` is its time of the day, ``began`` at the begin."""

    def __init__(self, began: datetime) -> None:
        self._jumping = _Jumping()
        self._began = began
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def clock(self) -> datetime:
        """The current moment, cut to milliseconds, as that of the service."""
        return self._began + timedelta(milliseconds=int(self._jumping.now * 1000))

    def run_in_executor(  # type: ignore[override]
        self, _executor: object, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """The work, done at once: its time is part of what was recorded."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as a thread does
            done.set_exception(error)
        return done
