"""The signals that stop a command."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


def stop_signals() -> list[signal.Signals]:
    """The signals that stop the server. SIGHUP stays ignored if it was (nohup)."""
    signals = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run this until it ends. A signal that stops the server cancels it, so that it ends what it
    has started, and then raises ``KeyboardInterrupt``."""

    async def stoppable() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in stop_signals():
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await work

    try:
        asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def handling_stops(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call ``handle`` for the signals that stop the server."""
    before = {number: signal.signal(number, handle) for number in stop_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
