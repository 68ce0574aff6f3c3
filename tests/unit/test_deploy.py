"""The files in deploy/ agree with this version."""

import re
import shlex
import tomllib
from configparser import ConfigParser
from importlib.metadata import distributions
from pathlib import Path
from shutil import which
from subprocess import run

import click
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from phoneprov_http.main.cli import main
from phoneprov_http.main.commands.features.fleet import drill
from phoneprov_http.main.commands.features.serving import provision
from phoneprov_http.main.commands.features.transfer import OMITTED, export
from phoneprov_http.main.commands.serve import serve
from phoneprov_http.main.server.asgi import LEAVE_SECONDS
from phoneprov_http.main.server.bounds import MOST_FILES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text("utf-8")
SETTINGS = set(
    re.findall(r"PHONEPROV_[A-Z_]+", (ROOT / "docs/reference/settings.md").read_text("utf-8"))
)


def require_serves(command: list[str]) -> None:
    """The command line starts the service."""
    assert Path(command[0]).name == "phoneprov"
    assert main.get_command(click.Context(main), command[1]) is serve
    serve.make_context("serve", command[2:])


def unit_of(name: str) -> ConfigParser:
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / name)
    return unit


def test_systemd_unit_matches_the_service() -> None:
    unit = unit_of("phoneprov.service")
    service = unit["Service"]

    require_serves(shlex.split(service["ExecStart"]))
    assert service["Environment"].partition("=")[0] in SETTINGS
    # It may write to its folder only.
    assert service["Environment"].endswith(f"/var/lib/{service['StateDirectory']}")
    assert int(service["TimeoutStopSec"]) > LEAVE_SECONDS
    assert int(service["LimitNOFILE"]) >= MOST_FILES
    assert unit["Unit"]["Requires"] == "phoneprov.socket"


def test_socket_unit_takes_the_address_from_the_service() -> None:
    socket = unit_of("phoneprov.socket")["Socket"]
    command = shlex.split(unit_of("phoneprov.service")["Service"]["ExecStart"])

    # serve refuses both.
    assert not {"--host", "--port", "--fd"} & {*command}
    defaults = {option.name: option.default for option in serve.params}
    assert socket["ListenStream"] == f"{defaults['host']}:{defaults['port']}"


def test_provision_units_take_their_ports_from_the_socket() -> None:
    service = unit_of("phoneprov-provision.service")
    socket = (DEPLOY / "phoneprov-provision.socket").read_text("utf-8")
    command = shlex.split(service["Service"]["ExecStart"])

    assert main.get_command(click.Context(main), command[1]) is provision
    assert command[2:] == []
    assert service["Unit"]["Requires"] == "phoneprov-provision.socket"
    assert int(service["Service"]["TimeoutStopSec"]) > LEAVE_SECONDS
    defaults = {option.name: option.default for option in provision.params}
    assert f"ListenStream={defaults['host']}:{defaults['http_port']}" in socket
    assert f"ListenDatagram={defaults['host']}:{defaults['tftp_port']}" in socket


def test_snapshot_unit_exports_what_asterisk_includes() -> None:
    unit = unit_of("phoneprov-pjsip.service")["Service"]
    command = shlex.split(unit["ExecStart"])

    assert main.get_command(click.Context(main), command[1]) is export
    made = export.make_context("export", command[2:]).params
    assert (made["kind"], made["format_"], made["with_secrets"]) == ("extensions", "pjsip", True)
    assert str(made["file"]) in unit["ExecStartPost"]
    # Else one extension of a user who left would keep Asterisk from every later snapshot.
    assert unit["SuccessExitStatus"] == str(OMITTED)
    included = f"#tryinclude {made['file'].name}\n"
    assert included in (ROOT / "docs/how-to/lines.md").read_text("utf-8")


def test_drill_unit_runs_the_command_every_night() -> None:
    command = shlex.split(unit_of("phoneprov-drill.service")["Service"]["ExecStart"])

    assert main.get_command(click.Context(main), command[1]) is drill
    drill.make_context("drill", command[2:])
    assert (DEPLOY / "phoneprov-drill.timer").exists()


@pytest.mark.skipif(which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    units = sorted(
        path for path in DEPLOY.iterdir() if path.suffix in {".service", ".socket", ".timer"}
    )
    copies = [tmp_path / unit.name for unit in units]
    for unit, copy in zip(units, copies, strict=True):
        # systemd asks for the programs, which are not installed here.
        copy.write_text(
            re.sub(r"/opt/phoneprov/bin/phoneprov\b", "/bin/true", unit.read_text("utf-8"))
        )

    done = run(["systemd-analyze", "verify", *copies], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(copies) >= 8


def test_compose_file_matches_the_service() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    service = compose["services"]["phoneprov"]

    require_serves(service["command"])
    assert {name.removesuffix("_FILE") for name in service["environment"]} <= SETTINGS
    mounted = {f"/run/secrets/{name}" for name in service["secrets"]}
    assert mounted == {
        value for name, value in service["environment"].items() if name.endswith("_FILE")
    }
    assert set(service["secrets"]) <= set(compose["secrets"])
    assert int(service["stop_grace_period"].removesuffix("s")) > LEAVE_SECONDS
    assert service["ulimits"]["nofile"] >= MOST_FILES
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()


def test_compose_file_contains_no_secret() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()

    files = [secret["file"] for secret in compose["secrets"].values()]
    settings = [file["path"] for file in compose["services"]["phoneprov"]["env_file"]]
    assert files
    assert settings
    for file in (*files, *settings):
        assert f"deploy/{Path(file).name}" in ignored


def test_container_file_matches_the_service() -> None:
    (command,) = re.findall(r"^CMD (\[.*\])$", CONTAINERFILE, re.MULTILINE)
    (folder,) = re.findall(r"PHONEPROV_DATA_DIR=(\S+)", CONTAINERFILE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE)

    require_serves(yaml.safe_load(command))
    assert f"VOLUME {folder}\n" in CONTAINERFILE
    assert copied
    assert all((ROOT / name).exists() for names in copied for name in names.split())
    assert "/health/ready" in CONTAINERFILE
    # The wheel that it builds has the pages of the console.
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    included = {Path(name).parts[0] for name in build["targets"]["wheel"]["force-include"]}
    assert included <= {name for names in copied for name in names.split()}


def test_lock_of_the_service_has_no_build_tools() -> None:
    locked = {
        name: set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE))
        for name in ("run", "build")
        if (text := (ROOT / f"requirements/{name}.txt").read_text("utf-8"))
    }

    assert "hatchling" in locked["build"]
    assert locked["build"] & locked["run"] <= {"packaging"}
    assert "pip install --no-cache-dir --no-deps --require-hashes -r run.txt" in CONTAINERFILE
    assert (
        "/opt/phoneprov/bin/pip install --no-cache-dir --no-deps --require-hashes -r build.txt"
        not in (CONTAINERFILE)
    )


def test_lock_is_complete_and_pip_resolves_nothing() -> None:
    lines = (ROOT / "requirements/dev.txt").read_text("utf-8").splitlines()
    locked = {Requirement(line.rstrip("\\ ")).name for line in lines if line[:1].isalnum()}
    required = {
        str(canonicalize_name(requirement.name))
        for one in distributions()
        if canonicalize_name(one.name) in {*locked, "phoneprov"}
        for requirement in map(Requirement, one.requires or ())
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }
    guides = ("Makefile", "deploy/Containerfile", "docs/how-to/install.md", "tests/run_in_root.sh")
    texts = {name: (ROOT / name).read_text("utf-8") for name in guides}

    assert "sqlalchemy" in required
    assert required <= locked
    for name, text in texts.items():
        assert re.findall(r"--no-deps --require-hashes", text), name
        assert not re.findall(r"(?<!--no-deps )--require-hashes", text), name


def test_workflow_tests_every_python_that_the_package_declares() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))

    declared = re.findall(r"Python :: (3\.\d+)", " ".join(package["classifiers"]))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == declared
