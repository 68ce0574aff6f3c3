"""``phoneprov load check``."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_core.switching.devices.names import listed_files
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


def checked(data: Path, files: Path | None, name: str = LOAD, *options: str) -> tuple[int, str]:
    environment = {"PHONEPROV_DATA_DIR": str(data)}
    if files is not None:
        environment["PHONEPROV_FILES_DIR"] = str(files)
    done = CliRunner(env=environment).invoke(main, ["load", "check", name, *options])
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
    "listed",
    [
        ("SYSH-1.4.1SR1.SBN", "GUIH-1.4.1SR1.SBN"),
        ("BOOT69xx.0-0-0-14.zz.sgn", "DSP69xx.0-0-0-4.ZZ.SGN"),
        ("P003-8-12-00.bin", "P0S3-8-12-00.Sb2"),
        ("kern9951.9-4-2SR1.SEBN", "cp7905080003sccp.zup", "ata186.SBIN"),
    ],
)
@pytest.mark.parametrize("ending", [".loads", ".LOADS", ".Loads"])
def test_list_of_a_load_is_read_in_any_case(
    data: Path, tmp_path: Path, listed: tuple[str, ...], ending: str
) -> None:
    header = b"\x01\x02\x00\x04CP7925G-1.4.1SR1.LOADS\x00"
    content = header + b"\x00\x00\x05".join(name.encode() + b"\x00" for name in listed)
    (tmp_path / f"CP7925G-1.4.1SR1{ending}").write_bytes(content)
    for name in listed[:-1]:
        (tmp_path / name.swapcase()).write_bytes(b"x")

    code, text = checked(data, tmp_path, "CP7925G-1.4.1SR1")
    assert (code, f"{listed[-1]}: missing" in text) == (1, True), text

    (tmp_path / listed[-1]).write_bytes(b"x")
    code, text = checked(data, tmp_path, "CP7925G-1.4.1SR1")
    assert (code, f"All {len(listed) + 1} file(s)" in text) == (0, True), text


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("CP7912080004SCCP080108A", ".sbin"),
        ("CP7905080003SCCP070409A", ".zup"),
        ("apps37sccp.1-4-5-7", ".bin"),
        ("S00105000400", ".SBN"),
        ("P00405000700", ".BIN"),
    ],
)
def test_load_of_one_file_is_complete_without_a_list(
    data: Path, tmp_path: Path, name: str, ending: str
) -> None:
    code, text = checked(data, tmp_path, name)
    wanted = f"{name}.loads, {name}.bin, {name}.sbin, {name}.sbn or {name}.zup"
    assert (code, text) == (1, f"{name}: missing, no file has the name {wanted}.\n")

    (tmp_path / f"{name}{ending}").write_bytes(b"x")
    assert checked(data, tmp_path, name)[0] == 0
    assert checked(data, tmp_path, f"{name}{ending}")[0] == 0


@pytest.mark.parametrize(
    ("content", "name", "code", "message"),
    [
        (None, LOAD, 1, f"{LOAD}: missing"),
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


def put(folder: Path, name: str, content: bytes = b"x") -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("load", "file"),
    [
        ("SCCP45.9-4-2SR3-1S", "mk-sccp.jar"),
        ("SIP42.9-4-2SR3-1S", "mk-sip.jar"),
        ("SCCP11.9-4-2SR3-1S", "tc-sccp.jar"),
        ("sip88xx.14-3-1-0101-121", "sl-be-sip.jar"),
        ("sip8845_65.14-3-1-0101-121", "sl-be-sip.jar"),
    ],
)
def test_load_check_names_the_missing_files_of_languages(
    data: Path, tmp_path: Path, load: str, file: str
) -> None:
    """Phones of an office that needs no other language work without them."""
    put(tmp_path, f"{load}.loads", LIST)
    for part in PARTS:
        put(tmp_path, part)
    put(tmp_path, f"german_germany/{file}")

    code, text = checked(data, tmp_path, load)

    assert code == 0
    assert f"German_Germany/{file}: present\n" in text
    for locale in ("Dutch_Netherlands", "French_France", "Italian_Italy", "Spanish_Spain"):
        assert f"{locale}/{file}: missing\n" in text


def test_load_check_fails_for_a_wanted_locale_that_is_missing(data: Path, tmp_path: Path) -> None:
    put(tmp_path, f"{LOAD}.loads", LIST)
    for part in PARTS:
        put(tmp_path, part)
    put(tmp_path, "Polish_Poland/mk-sccp.jar")
    wanted = ("--locale", "Polish_Poland", "--locale", "German_Germany")

    code, text = checked(data, tmp_path, LOAD, *wanted)
    assert (code, "German_Germany/mk-sccp.jar: missing" in text) == (1, True)
    assert "French_France" not in text
    assert checked(data, tmp_path, LOAD, *wanted[:2])[0] == 0

    put(tmp_path, "German_Germany/mk-sccp.jar")
    assert checked(data, tmp_path, LOAD, *wanted)[0] == 0
    assert checked(data, tmp_path, LOAD, "--locale", "../German_Germany")[0] == 2


def test_load_check_says_when_the_files_of_languages_are_not_known(
    data: Path, tmp_path: Path
) -> None:
    put(tmp_path, "CP7925G-1.4.1SR1.LOADS", LIST)
    for part in PARTS:
        put(tmp_path, part)

    code, text = checked(data, tmp_path, "CP7925G-1.4.1SR1")
    assert (code, "Germany" in text) == (0, False)
    code, text = checked(data, tmp_path, "CP7925G-1.4.1SR1", "--locale", "German_Germany")
    assert (code, "not known for CP7925G-1.4.1SR1" in text) == (1, True)
