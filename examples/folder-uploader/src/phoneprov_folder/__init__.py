"""Configurations for phones in a folder of this machine, instead of on an FTP server."""

import asyncio
import hashlib
import os
import re
from pathlib import Path

from phoneprov_adapters.api import Settings
from phoneprov_core.api import REPLACED_ANOTHER, ConfigUploader, Refused, Upload, Uploaded

__all__ = ["FolderUploader", "folder_uploader"]

_SEGMENT = re.compile(r"[A-Za-z0-9._-]{1,200}")


def folder_uploader(settings: Settings) -> "FolderUploader":
    """The entry point, which ``PHONEPROV_UPLOADER=folder`` selects."""
    return FolderUploader(Path(settings.variables.required("PHONEPROV_FOLDER")))


class FolderUploader(ConfigUploader):
    """Writes into one folder; the phone's address does not matter. Raises ``ValueError`` when
    the folder is not there."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ValueError("PHONEPROV_FOLDER names no folder.")
        self._folder = folder

    async def upload(self, upload: Upload) -> Uploaded:
        for name in (upload.filename, upload.attempt):
            if _SEGMENT.fullmatch(name) is None or name in {".", ".."}:
                raise Refused("The configuration file has a name that cannot be used.")
        # The disk must not block the event loop. A thread continues when its caller is cancelled,
        # so it is awaited: it must not write after the next upload.
        writing = asyncio.ensure_future(self._put(upload))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait({writing})
            raise

    async def _put(self, upload: Upload) -> Uploaded:
        temporary = self._folder / f".{upload.filename}.{upload.attempt}.tmp"
        notes = await asyncio.to_thread(self._write, upload, temporary)
        await upload.proceed()  # if it raises, the next upload removes the temporary file
        await asyncio.to_thread(self._rename, upload, temporary)
        digest = hashlib.sha256(upload.content).hexdigest()
        return Uploaded(f"{self._folder}/{upload.filename}", len(upload.content), digest, notes)

    def _write(self, upload: Upload, temporary: Path) -> tuple[str, ...]:
        final = self._folder / upload.filename
        step = "uploading"
        notes: tuple[str, ...] = ()
        try:
            if upload.replaces is not None:
                old = final.read_bytes() if final.exists() else b""
                if hashlib.sha256(old).hexdigest() != upload.replaces.sha256:
                    notes = (REPLACED_ANOTHER,)
            with temporary.open("wb") as file:
                file.write(upload.content)
                file.flush()
                os.fsync(file.fileno())
            # A TFTP server runs as another user.
            temporary.chmod(0o644)
            step = "verifying"
            self._verify(temporary, upload.content)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise Refused(f"The folder refused the configuration ({step}).") from error
        return notes

    def _rename(self, upload: Upload, temporary: Path) -> None:
        final = self._folder / upload.filename
        step = "renaming"
        try:
            temporary.replace(final)
            step = "verifying"
            self._verify(final, upload.content)
            self._remove_leftovers(upload)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise Refused(f"The folder refused the configuration ({step}).") from error

    @staticmethod
    def _verify(path: Path, content: bytes) -> None:
        if path.read_bytes() != content:
            raise OSError("the file does not hold what was written")

    def _remove_leftovers(self, upload: Upload) -> None:
        # The name of an attempt has no dot, so files of "a.b" do not match the pattern of "a".
        pattern = re.compile(rf"\.{re.escape(upload.filename)}\.[A-Za-z0-9_-]+\.tmp")
        for path in self._folder.iterdir():
            if pattern.fullmatch(path.name):
                path.unlink(missing_ok=True)
