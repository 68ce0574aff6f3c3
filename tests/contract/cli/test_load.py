"""``phoneprov load check``."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_core.devices.loads import listed_files
from phoneprov_http.main.cli import main
from support.data_folder import populate

LOAD = "SCCP45.9-4-2SR3-1S"
PARTS = ["apps45.9-4-2ES26.sbn", "cnu45.9-4-2ES26.sbn", "dsp45.9-4-2ES26.sbn"]
LIST = b"\x00\x01RSA\xff" + b"\x00\x00".join(part.encode() for part in PARTS) + b"\x00\xfe"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("load") / "data"
    populate(folder)
    return folder


def checked(data: Path, files: Path | None, name: str = LOAD) -> tuple[int, str]:
    environment = {"PHONEPROV_DATA_DIR": str(data)}
    if files is not None:
        environment["PHONEPROV_FILES_DIR"] = str(files)
    done = CliRunner(env=environment).invoke(main, ["load", "check", name])
    return done.exit_code, done.output


def test_load_is_complete_when_each_listed_file_is_there(data: Path, tmp_path: Path) -> None:
    (tmp_path / f"{LOAD}.loads").write_bytes(LIST)
    for part in PARTS[:2]:
        (tmp_path / part.upper()).write_bytes(b"x")

    code, text = checked(data, tmp_path)
    assert code == 1
    assert f"{PARTS[0]}: present\n" in text
    assert f"{PARTS[2]}: missing\n" in text

    (tmp_path / PARTS[2]).write_bytes(b"x")
    code, text = checked(data, tmp_path)
    assert (code, text.splitlines()[-1]) == (0, f"All 4 file(s) of {LOAD} are present.")
    assert checked(data, tmp_path, f"{LOAD}.loads")[0] == 0


@pytest.mark.parametrize(
    ("content", "name", "code", "message"),
    [
        (None, LOAD, 1, f"{LOAD}.loads: missing"),
        (b"<html>", LOAD, 2, "names no file"),
        (LIST, "../x", 2, "plain name"),
    ],
)
def test_load_that_cannot_be_read_is_named(
    data: Path, tmp_path: Path, content: bytes | None, name: str, code: int, message: str
) -> None:
    if content is not None:
        (tmp_path / f"{LOAD}.loads").write_bytes(content)

    status, text = checked(data, tmp_path, name)

    assert (status, message in text) == (code, True), text


def test_load_without_a_folder_names_the_setting(data: Path) -> None:
    status, text = checked(data, None)
    assert (status, "PHONEPROV_FILES_DIR" in text) == (2, True)


def test_list_of_a_load_is_read_in_bounded_time() -> None:
    assert listed_files(b"a" * 10_000_000) == []
    assert listed_files(b"a.sbn" * 10_000_000) == []
    assert listed_files(LIST + LIST) == PARTS
