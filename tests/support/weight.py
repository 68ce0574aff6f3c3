"""How much there is to read: lines, and the modules that a request runs through."""

import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"


def lines(*folders: Path) -> int:
    """The number of lines of Python in these folders and files."""
    files = (file for one in folders for file in files_of(one))
    return sum(len(file.read_bytes().splitlines()) for file in files)


def files_of(path: Path) -> list[Path]:
    """The files of Python in a folder, or the file itself."""
    return [path] if path.suffix else [*path.rglob("*.py")]


@contextmanager
def passed() -> Iterator[set[str]]:
    """The modules of ``src`` of which a function runs meanwhile, in any thread that begins to
    call functions meanwhile, as paths below ``src``."""
    seen: set[str] = set()
    prefix = f"{SRC}/"

    def called(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(prefix):
            seen.add(path.removeprefix(prefix))

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def passed_by(work: Callable[[], Awaitable[T]]) -> tuple[T, set[str]]:
    """The result of some work, and the modules that it runs through."""
    with passed() as seen:
        result = await work()
    return result, seen
