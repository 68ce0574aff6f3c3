"""Execution of the steps of a deployment: timing, recording, events."""

import contextlib
from collections.abc import Awaitable, Callable
from errno import errorcode
from typing import TypeVar

from phoneprov_core.deployments.model import Step, StepName
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN, REPLY_LOST, RefusedMidway, TimedOutMidway
from phoneprov_core.devices.ports import Uploaded
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.system import Clock, millis

T = TypeVar("T")

Progress = Callable[[StepName, Step | None], None]
"""Called twice for each step: with None when it begins, with its result when it ends."""


def no_progress(_name: StepName, _step: Step | None) -> None:
    """Ignores the events."""


def unexpected(step: StepName, error: OSError) -> PhoneprovError:
    """Convert an exception that an uploader or a phone driver of another package raised against its
    contract. The text of the exception may contain secrets: only its error number is used."""
    late = isinstance(error, TimeoutError)
    reason = "did not answer in time"
    if not late:
        reason = f"failed: {errorcode.get(error.errno or 0, type(error).__name__)}"
    if step is StepName.UPLOAD:
        end = "It is not known whether the phone's file is the new one or the old one."
        return (TimedOutMidway if late else RefusedMidway)(f"The uploader {reason}. {end}")
    end = "It is not known whether the phone carries out the command."
    return (TimedOut if late else Refused)(f"The phone driver {reason}. {end}", code=REPLY_LOST)


def _ok_after(error: PhoneprovError) -> bool | None:
    """Whether a step succeeded that raised ``error``: None if that is not known."""
    return None if error.code in {OUTCOME_UNKNOWN, REPLY_LOST} else False


class StepRecorder:
    """Runs steps, and records how each went."""

    def __init__(self, clock: Clock, progress: Progress) -> None:
        self.steps: list[Step] = []
        self._clock = clock
        self._progress = progress

    async def step(self, name: StepName, work: Awaitable[T]) -> T:
        """Run one step and record how it went. Raises what the step raises; an ``OSError`` of an
        adapter is converted to ``Refused`` or ``TimedOut``."""
        self._progress(name, None)
        began = millis(self._clock())
        message: str | None = None
        ok: bool | None = False
        try:
            result = await work
            ok = True
            if isinstance(result, Uploaded):
                message = "; ".join(result.notes) or None
            return result
        except PhoneprovError as error:
            ok, message = _ok_after(error), error.message
            raise
        except OSError as error:
            failure = unexpected(name, error)
            ok, message = _ok_after(failure), failure.message
            raise failure from error
        finally:
            step = Step(name, ok, message, max(0, millis(self._clock()) - began))
            self.steps.append(step)
            self._progress(name, step)

    async def attempt(self, name: StepName, work: Awaitable[object]) -> Step:
        """Run one step whose failure does not stop the deployment; returns its result."""
        with contextlib.suppress(PhoneprovError):
            await self.step(name, work)
        return self.steps[-1]
