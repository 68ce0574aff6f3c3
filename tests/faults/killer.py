"""Orders in processes that are killed at a given point."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from faults import crashing
from faults.crashing import Order


class Killer:
    """Executes orders in processes of their own, which are killed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def __call__(self, order: Order) -> int:
        """Execute an order; the exit code of its process."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        async with asyncio.timeout(60):
            return int(await self._process.stdout.readline())


@asynccontextmanager
async def killer() -> AsyncIterator[Killer]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, crashing.__file__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Killer(process)
    finally:
        if process.stdin:
            process.stdin.close()
        await process.wait()
