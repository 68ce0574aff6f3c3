"""The folder, held to the contract of every uploader."""

from __future__ import annotations

from pathlib import Path

import pytest

from phoneprov_adapters import read_settings
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
            read=lambda: {path.name: path.read_bytes() for path in root.iterdir()},
            write=lambda name, content: (root / name).write_bytes(content),
            broken=broken,
        )


def test_the_folder_is_a_setting(tmp_path: Path) -> None:
    folder_uploader(read_settings({"PHONEPROV_FOLDER": str(tmp_path)}))

    with pytest.raises(ValueError, match="PHONEPROV_FOLDER"):
        folder_uploader(read_settings({"PHONEPROV_FOLDER": str(tmp_path / "nowhere")}))
