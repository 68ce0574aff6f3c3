"""The read-only folder of firmware, ring lists and locales."""

import asyncio
import stat
from pathlib import Path

from phoneprov_adapters.provisioning.contents import DiskFile
from phoneprov_core.provisioning.ports import SharedFile, SharedFiles


class NoFolder(SharedFiles):
    """No folder is configured: there are no other files."""

    async def open(self, name: str) -> SharedFile | None:  # noqa: ARG002 - every name is missing
        return None


class Folder(SharedFiles):
    """Regular files of a folder and its subfolders, upper and lower case ignored.

    Where two names differ in case alone, the exact name comes first, then the first in order.
    Symbolic links are followed as long as they stay inside the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def open(self, name: str) -> SharedFile | None:
        return await asyncio.to_thread(self._open, name)

    def _open(self, name: str) -> DiskFile | None:
        path = self._find(name)
        if path is None:
            return None
        try:
            real, root = path.resolve(strict=True), self._root.resolve(strict=True)
            if not real.is_relative_to(root) or not stat.S_ISREG(real.stat().st_mode):
                return None
            return DiskFile(real)
        except (OSError, RuntimeError):
            return None

    def _find(self, name: str) -> Path | None:
        path = self._root
        for segment in name.split("/"):
            found = _entry(path, segment)
            if found is None:
                return None
            path = path / found
        return path


def _entry(folder: Path, segment: str) -> str | None:
    """The entry of a folder with this name, upper and lower case ignored."""
    if (folder / segment).exists():
        return segment
    try:
        names = [entry for entry in folder.iterdir() if entry.name.lower() == segment.lower()]
    except OSError:
        return None
    return min((entry.name for entry in names), default=None)
