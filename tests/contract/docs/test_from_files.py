"""Pages about templates and rollouts: their commands run as written, and print the shown output."""

import asyncio
import os
import re
from pathlib import Path

from contract.docs.test_how_to import HOW_TO
from contract.docs.test_put_back import pattern
from faults.desk import desk
from faults.exchange import SOON, Exchange
from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.features.templates.model import CreateTemplate
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.people.users.model import CreateUser
from support.command_line import run_script
from support.data_folder import populate
from support.records import a_mac

BLOCK = re.compile(r"^( *)```(sh|console)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile("@@@ code ([0-9]+)\n")


def codes_of(
    page: str, folder: Path, before: str = "", **environment: str
) -> list[tuple[str, int]]:
    """Run a page after the script ``before``; the commands with an output, and their exit codes."""
    script, shown = [f"{before}\necho '@@@ code 0'"], []
    for indent, language, indented in BLOCK.findall((HOW_TO / page).read_text("utf-8")):
        block = re.sub(f"^{indent}", "", indented, flags=re.MULTILINE)
        if language == "sh":
            script.append(f"{block}\necho '@@@ code 0'")
            continue
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            script.append(f'{command} && code=0 || code=$?\necho "@@@ code $code"')
            shown.append((len(script) - 1, command, output))

    done = run_script("\n".join(script), folder, **environment)

    assert done.returncode == 0, done.stdout + done.stderr
    printed = CODE.split(done.stdout)
    for number, command, output in shown:
        assert re.fullmatch(pattern(output), printed[2 * number]), (
            f"{command}\n{printed[2 * number]}\n{done.stderr}"
        )
    return [(command, int(printed[2 * number + 1])) for number, command, _ in shown]


def test_page_from_files_to_a_template_runs_as_written(tmp_path: Path, commands: str) -> None:
    path = f"{commands}:{os.environ['PATH']}"

    codes = codes_of("from-files-to-a-template.md", tmp_path, PATH=path)

    assert len(codes) == 8
    assert codes == [(command, 3 * ("--undo-on-stop" in command)) for command, _ in codes]


FLOOR = 24
BODY = "<device>\n<loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n</device>\n"
DEPLOY = (
    "PHONEPROV_FILES_DIR= phoneprov rollout --location '2nd floor' --profile Floor >/dev/null\n"
)


async def prepare_floor(folder: Path, environment: dict[str, str]) -> None:
    """Phones with a template, the changed template, and one of two files of its load."""
    async with open_phoneprov(read_settings(environment)) as use_cases:
        actor = use_cases.system_actor()
        new = CreateTemplate(name="office", model="7945", body=BODY)
        await use_cases.templates.create(actor, new)
        for number in range(1, FLOOR + 1):
            phone = CreatePhone(
                mac=a_mac(number), model="7945", phone_ip="127.0.0.1", location="2nd floor"
            )
            await use_cases.phones.create(actor, phone)
        new_user = CreateUser(
            username="ada", first_name="A", last_name="L", email="a@b.ch",
            password="an engine of brass",
        )  # fmt: skip
        user = await use_cases.users.create(actor, new_user)
        profile = CreateProfile(user_uuid=user.uuid, name="Floor", template="office")
        await use_cases.profiles.create(actor, profile)
    text = BODY.replace("SR3-1S", "SR4-2S")
    (folder / "office.cnf.xml").write_text(text, encoding="utf-8")
    (folder / "firmware/SCCP45.9-4-2SR4-2S.loads").write_bytes(b"\0apps45.9-4-2ES29.sbn\0")
    (folder / "apps45.9-4-2ES29.sbn").write_bytes(b"x")


async def test_page_change_the_load_of_a_floor_runs_as_written(
    tmp_path: Path, commands: str
) -> None:
    """The rest waits while the first 5 are away."""
    waited = asyncio.Event()
    async with desk(tmp_path / "files") as outside, Exchange() as exchange:

        def registers(device: str) -> float:
            if exchange.restarts[device] == 1 and not waited.is_set():
                exchange.open.clear()
            return SOON

        exchange.registers = registers
        data = {
            "PHONEPROV_DATA_DIR": str(tmp_path / "data"),
            "PHONEPROV_FILES_DIR": str(tmp_path / "firmware"),
            # These phones have no page that states their load: each would be awaited to the end.
            "PHONEPROV_LOAD_MINUTES": "0",
        }
        environment = {**data, **outside.settings(), **exchange.settings(60)}
        populate(tmp_path / "data")
        (tmp_path / "firmware").mkdir()
        await prepare_floor(tmp_path, environment)
        environment["PATH"] = f"{commands}:{os.environ['PATH']}"
        page = "change-the-load-of-a-floor.md"
        task = asyncio.create_task(
            asyncio.to_thread(codes_of, page, tmp_path, DEPLOY, **environment)
        )
        async with asyncio.timeout(240):
            while exchange.restarts.total() < FLOOR + 5 and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await asyncio.sleep(2)
        restarted = exchange.restarts.total()
        waited.set()
        exchange.open.set()
        codes = await task

    assert restarted == FLOOR + 5
    assert [code for _, code in codes] == [1, 0, 0]
    assert set(exchange.restarts.values()) == {2}
    assert {b"SR4-2S" in path.read_bytes() for path in outside.folder.glob("SEP*")} == {True}
