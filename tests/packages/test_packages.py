"""Built packages install, run and offer what their metadata says."""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from phoneprov_core import __version__
from support.command_line import output_of

ROOT = Path(__file__).parents[2]


def built(source: Path, folder: Path, kind: str) -> Path:
    """Build a wheel or sdist of the sources with the backend that they name."""
    # The backend writes to the given folder and needs no network.
    program = f"import sys; from hatchling import build; print(build.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return folder / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def installed(folder: Path, *wheels: Path) -> Path:
    """The Python of a new environment with these wheels; their dependencies come from the
    environment of the tests."""
    output_of(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin/python"
    site = output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    output_of(
        *(sys.executable, "-m", "pip", "--python", str(python)),
        *("install", "--quiet", "--no-deps", "--no-index", *map(str, wheels)),
    )
    ours = output_of(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    # Without the editable install of the sources, which .pth files name.
    (Path(site) / "ours.pth").write_text(ours, encoding="utf-8")
    return python


def test_wheel_installs_and_runs(wheel: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "venv", wheel)

    helped = output_of(python.parent / "phoneprov", "--help")
    where = output_of(python, "-c", "import phoneprov_core; print(phoneprov_core.__file__)")
    version = output_of(python.parent / "phoneprov", "--version")

    assert "serve" in helped
    assert "import" in helped
    assert where.startswith(str(tmp_path))
    assert version.split()[-1] == wheel.name.split("-")[1]


def test_wheel_contains_the_packages_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    roots = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert roots == {"phoneprov_core", "phoneprov_adapters", "phoneprov_http"}
    for needed in (
        "phoneprov_core/py.typed",
        "phoneprov_core/api.py",
        "phoneprov_adapters/sql/migrations/script.py.mako",
        "phoneprov_adapters/py.typed",
        "phoneprov_http/console/help/how-to/console.md",
        "phoneprov_http/console/help/reference/http/batches.md",
    ):
        assert needed in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_sdist_contains_the_sources_of_the_wheel(tmp_path: Path) -> None:
    archive = built(ROOT, tmp_path, "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    [source] = [path for path in tmp_path.iterdir() if path.is_dir()]

    assert (source / "CHANGELOG.md").exists()
    assert (source / "examples/snom-driver/pyproject.toml").exists()
    assert built(source, tmp_path, "wheel").name.endswith(".whl")


def test_version_is_defined_once() -> None:
    files = [ROOT / "pyproject.toml", *(ROOT / "src").rglob("*.py")]
    quoted = re.compile(rf"""["']{re.escape(__version__)}["']""")

    assert [path.relative_to(ROOT) for path in files if quoted.search(path.read_text("utf-8"))] == [
        Path("src/phoneprov_core/__init__.py")
    ]


def test_examples_install_and_are_selected_by_name(wheel: Path, tmp_path: Path) -> None:
    examples = [
        built(ROOT / "examples" / name, tmp_path, "wheel")
        for name in ("folder-uploader", "snom-driver")
    ]
    python = installed(tmp_path / "venv", wheel, *examples)
    program = (
        "import os; from phoneprov_adapters.api import read_settings;"
        "from phoneprov_adapters.composition.adapters import phone_driver_of, uploader_of;"
        "s = read_settings(os.environ);"
        "from phoneprov_adapters.memory.database import MemoryDatabase;"
        "print(type(uploader_of(s, MemoryDatabase())).__name__, type(phone_driver_of(s)).__name__)"
    )

    output = output_of(
        *(python, "-c", program),
        PHONEPROV_UPLOADER="folder",
        PHONEPROV_FOLDER=str(tmp_path),
        PHONEPROV_PHONE_DRIVER="snom",
    )

    assert output.split() == ["FolderUploader", "SnomPhones"]
