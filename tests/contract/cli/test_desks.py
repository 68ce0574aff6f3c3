"""``phoneprov desks``, ``desk`` and ``phone-urls``."""

import asyncio
import json
from pathlib import Path

from click.testing import CliRunner, Result

from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_core.inventory.extensions import CreateExtension
from phoneprov_core.inventory.links import CreateLink
from phoneprov_http.main.cli import main
from support.desk import ADA, MAC, populate


def phoneprov(folder: Path, *arguments: str) -> Result:
    environment = {"PHONEPROV_DATA_DIR": str(folder)}
    return CliRunner().invoke(main, list(arguments), env=environment, catch_exceptions=False)


def test_phone_urls_prints_the_elements_of_a_configuration(tmp_path: Path) -> None:
    done = phoneprov(tmp_path, "phone-urls", "10.0.0.2:8000")
    assert done.exit_code == 0
    assert "<servicesURL>http://10.0.0.2:8000/phone/services</servicesURL>" in done.output
    assert "http://[fd00::2]/phone/" in phoneprov(tmp_path, "phone-urls", "fd00::2").output
    assert phoneprov(tmp_path, "phone-urls", "ftp://x").exit_code == 2


def test_desks_are_listed_and_configured(tmp_path: Path) -> None:
    admin = ("create-admin", "--username", "ada", "--email", "ada@example.com", "--password-stdin")
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path)}
    made = CliRunner().invoke(main, list(admin), env=environment, input="a good passphrase\n")
    assert made.exit_code == 0
    assert phoneprov(tmp_path, "desks", "--json").output.strip() == "[]"

    missing = phoneprov(tmp_path, "desk", "set-default", "001bd4123456", "--none")
    assert (missing.exit_code, "no such desk" in missing.output) == (1, True)
    assert phoneprov(tmp_path, "desk", "set-default", "001bd4123456").exit_code == 2
    assert phoneprov(tmp_path, "desk", "logout", "001bd4123456").exit_code == 1


def test_default_profile_without_a_line_is_a_warning(tmp_path: Path) -> None:
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path)}
    populate(environment)

    def warned(**more: str) -> bool:
        arguments = ["desk", "set-default", MAC, ADA]
        done = CliRunner(env={**environment, **more}).invoke(main, arguments)
        assert done.exit_code == 0
        assert "has a default profile" in done.stdout
        return "Warning: With this default profile the phone has no line" in done.stderr

    token = {"PHONEPROV_ASTERISK_TOKEN": "a service token of Asterisk"}
    assert not warned()  # the lines are those of sccp.conf
    assert warned(**token)
    asyncio.run(give_ada_a_line(environment))
    assert not warned(**token)


def test_number_of_a_desk_is_set_and_cleared(tmp_path: Path) -> None:
    environment = {"PHONEPROV_DATA_DIR": str(tmp_path)}
    populate(environment)
    asyncio.run(give_ada_a_line(environment))
    set_default = ("desk", "set-default", MAC)

    def own() -> str | None:
        [desk] = json.loads(phoneprov(tmp_path, "desks", "--json").output)
        return desk["extension_uuid"] and str(desk["extension_uuid"])

    done = phoneprov(tmp_path, *set_default, "--number", "101")
    assert (done.exit_code, "the number 101 of its own" in done.output) == (0, True)
    assert own()
    assert phoneprov(tmp_path, "desks").output.splitlines()[-1].split()[-2:] == ["-", "101"]
    for wrong, code in ((("--number", "1"), 1), (("--number", "101", "--no-number"), 2)):
        assert phoneprov(tmp_path, *set_default, *wrong).exit_code == code
    assert phoneprov(tmp_path, *set_default, "--no-hotdesk").exit_code == 0
    assert own()
    assert phoneprov(tmp_path, *set_default, "--no-number").exit_code == 0
    assert own() is None


async def give_ada_a_line(environment: dict[str, str]) -> None:
    async with open_phoneprov(read_settings(environment)) as phoneprov:
        actor = phoneprov.system_actor()
        new = CreateExtension(type="chan_sccp", extension="101", name="Ada", password="secret")
        extension = await phoneprov.extensions.create(actor, new)
        [user] = (await phoneprov.users.all(actor)).first
        link = CreateLink(user_uuid=user.uuid, extension_uuid=extension.uuid)
        await phoneprov.links.create(actor, link)
