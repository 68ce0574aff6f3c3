"""The contract kit over the folder uploader."""

import contextlib
from pathlib import Path

import pytest

from phoneprov_adapters.api import read_settings
from phoneprov_adapters.testing import UploaderContract, UploaderRig
from phoneprov_folder import FolderUploader, folder_uploader


class TestFolderUploader(UploaderContract):
    """Over a folder of the test's own."""

    @pytest.fixture
    def rig(self, tmp_path: Path) -> UploaderRig:
        root, gone = tmp_path / "root", tmp_path / "gone"
        root.mkdir()
        gone.mkdir()
        broken = FolderUploader(gone)
        gone.rmdir()
        return UploaderRig(
            FolderUploader(root),
            str(root),
            read=lambda: _files_in(root),
            write=lambda name, content: (root / name).write_bytes(content),
            broken=broken,
        )


def _files_in(folder: Path) -> dict[str, bytes]:
    files = {}
    for path in folder.iterdir():
        # It may get its final name between the listing and the read.
        with contextlib.suppress(FileNotFoundError):
            files[path.name] = path.read_bytes()
    return files


def test_folder_of_the_settings_must_exist(tmp_path: Path) -> None:
    folder_uploader(read_settings({"PHONEPROV_FOLDER": str(tmp_path)}))

    with pytest.raises(ValueError, match="PHONEPROV_FOLDER"):
        folder_uploader(read_settings({"PHONEPROV_FOLDER": str(tmp_path / "nowhere")}))
