"""Work on batches that nobody waits for, and whose failures are told in the log."""

from __future__ import annotations

import logging

from phoneprov_core.batches.run import RunBatches
from phoneprov_core.kernel.errors import Unavailable

log = logging.getLogger("phoneprov.batches")


class BatchWorker:
    """Works on the batches that nobody holds. What goes wrong is logged: whoever looks next
    takes the batch up again."""

    def __init__(self, run: RunBatches) -> None:
        self._run = run

    async def __call__(self) -> None:
        """Returns when no batch is left that nobody holds."""
        try:
            await self._run()
        except Unavailable as error:
            log.warning("The work on a batch broke off. %s", error.message)
        except Exception:
            log.exception("The work on a batch broke off.")
