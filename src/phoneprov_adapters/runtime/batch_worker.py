"""Processing of batches in the background, with failures in the log."""

from __future__ import annotations

import logging

from phoneprov_core.batches.run import RunBatches
from phoneprov_core.kernel.errors import Unavailable

log = logging.getLogger("phoneprov.batches")


class BatchWorker:
    """Processes batches that no worker holds. Failures are logged: the next worker continues the
    batch."""

    def __init__(self, run: RunBatches) -> None:
        self._run = run

    async def __call__(self) -> None:
        """Returns when no open batch without a holder is left."""
        try:
            await self._run()
        except Unavailable as error:
            log.warning("A batch worker failed. %s", error.message)
        except Exception:
            log.exception("A batch worker failed.")
