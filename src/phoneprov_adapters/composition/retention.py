"""Removal of old records, and rotation of keys."""

from collections.abc import Iterator

from phoneprov_adapters.composition.adapters import (
    Adapters,
    box,
    clock,
    database,
    keys,
    pause,
    setting,
)
from phoneprov_adapters.composition.plugins import Periodic, singleton
from phoneprov_adapters.runtime.tasks import log_pruned
from phoneprov_adapters.sql.maintenance.key_rotation import KeyRotation
from phoneprov_core.features.retention import Prune


class RetentionContainer(Adapters):
    """Removal of old records, and rotation of keys."""

    # fmt: off
    prune = singleton(
        Prune, database=database, keep=setting(lambda it: it.keep), clock=clock, pause=pause)
    rotation = singleton(KeyRotation, database=database, keys=keys, box=box)
    # fmt: on


LOOK_SECONDS = 600.0
"""Seconds between two checks whether this process has to prune old records."""


def repeated(container: RetentionContainer) -> Iterator[Periodic]:
    """Remove old records, in the process whose turn it is."""

    async def prune() -> None:
        log_pruned(await container.prune().in_turn() or ())

    yield Periodic(prune, LOOK_SECONDS, immediately=False)
