"""Orders in processes that are killed at a given point."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import msgspec

from faults import crashing


class Killer:
    """Executes orders in processes of their own, which are killed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def __call__(self, order: msgspec.Struct) -> int:
        """Execute an order; the exit code of its process, or ``STOPPED``."""
        return await self._line(msgspec.json.encode(order))

    async def resume(self) -> int:
        """Continue an order that has stopped; the exit code of its process."""
        return await self._line(b"")

    async def _line(self, line: bytes) -> int:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(line + b"\n")
        async with asyncio.timeout(60):
            return int(await self._process.stdout.readline())


@asynccontextmanager
async def killer(program: ModuleType = crashing) -> AsyncIterator[Killer]:
    assert program.__file__
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, program.__file__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(program.__file__).parents[1])},
    )
    try:
        yield Killer(process)
    finally:
        if process.stdin:
            process.stdin.close()
        await process.wait()
