"""Number of modules that a request passes, with limits, and the lines of code, which are a report.
``make weight`` prints the figures."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_http.main.cli import main
from support.api import PASSWORD, data_of, opened_api
from support.desk import ADA, MAC, phone_beside, populate, press_without_pauses, settings_for
from support.scale import note
from support.switch_rig import World, a_desk_phone, a_profile_of, switch
from support.weight import ROOT, SRC, lines, passed, passed_by

TESTS = ROOT / "tests"
MOST_MODULES = {
    "GET /phones/{mac}": 14,
    "POST /phones": 22,
    "POST /auth/login": 22,
    "POST /phone-profiles/switch": 39,
    "phoneprov switch": 80,
}


def check(what: str, figure: int, most: int) -> None:
    note(f"{what}: {figure:,} (limit {most:,})")
    assert figure <= most, f"{what}: {figure:,}, limit {most:,}"


def test_lines_of_python_are_reported() -> None:
    """The report fails nothing: a reader judges whether a change is worth its lines."""
    figures = {folder.name: lines(folder) for folder in [*sorted(SRC.glob("phoneprov_*")), TESTS]}
    for name, figure in figures.items():
        note(f"lines of {name}: {figure:,}")
    assert all(figures.values())


async def test_requests_pass_few_modules(tmp_path: Path) -> None:
    counts = {}
    world = World()
    async with opened_api(tmp_path, database_kind="sqlite", overrides=world.adapters()) as api:
        admin = await api.account("admin", level=0)
        await a_desk_phone(admin)
        path, other = f"/phones/{MAC}", {"mac": "00:1B:D4:12:34:99"}
        data_of(await admin.get(path), 200)  # What runs once in a process is not counted.

        reply, seen = await passed_by(lambda: admin.get(path))
        data_of(reply, 200)
        counts["GET /phones/{mac}"] = seen
        reply, seen = await passed_by(lambda: admin.post("/phones", other))
        data_of(reply, 201)
        counts["POST /phones"] = seen
        login = {"username": "admin", "password": PASSWORD}
        reply, seen = await passed_by(lambda: api.anonymous.post("/auth/login", login))
        data_of(reply, 200)
        counts["POST /auth/login"] = seen
        profile = await a_profile_of(admin)
        data_of(await switch(admin, profile), 200, metadata=False)
        reply, seen = await passed_by(lambda: switch(admin, profile))
        data_of(reply, 200, metadata=False)
        counts["POST /phone-profiles/switch"] = seen

    for what, seen in counts.items():
        check(f"modules of {what}", len(seen), MOST_MODULES[what])


def test_command_switch_passes_few_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    press_without_pauses(monkeypatch)
    populate({"PHONEPROV_DATA_DIR": str(tmp_path / "data")})
    with phone_beside(tmp_path / "phone") as phone:
        environment = settings_for(phone, tmp_path / "data") | {"PHONEPROV_RESTART": "http"}
        CliRunner().invoke(main, ["switch", ADA, MAC], env=environment)  # what runs once
        with passed() as seen:
            done = CliRunner().invoke(main, ["switch", ADA, MAC], env=environment)
    assert done.exit_code == 0, done.output
    # The phone runs beside, and may begin a thread meanwhile.
    ours = [module for module in seen if not module.startswith("phoneprov_adapters/simulator/")]
    check("modules of phoneprov switch", len(ours), MOST_MODULES["phoneprov switch"])
