"""A disk of a few MiB, and its filling."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="Only root can mount a small disk.")


@contextmanager
def mounted_disk(folder: Path, size: str = "4m") -> Iterator[Path]:
    """A disk that is mounted at a new folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill a disk but for some bytes; the file that fills it."""
    filling = folder / "filling"
    with suppress(OSError), filling.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    os.truncate(filling, filling.stat().st_size - leave)
    return filling
