"""A process that holds the lease of a phone until its standard input ends.

Its arguments are the MAC of the phone and the files with the identifiers of the running system and
of the machine.
"""

import asyncio
import os
import sys
from pathlib import Path

from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.runtime.tasks import random_id
from phoneprov_adapters.sql.engines import processes
from phoneprov_core.kernel.actor import SYSTEM_ACTOR


async def hold(mac: str) -> None:
    container = prepare(read_settings(os.environ))
    async with running(container):
        async with container.database().write(by=SYSTEM_ACTOR) as tx:
            assert await tx.leases.take(mac, random_id(), 60)
        sys.stdout.write("held\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    processes.BOOT, processes.MACHINE = map(Path, sys.argv[2:])
    asyncio.run(hold(sys.argv[1]))
