"""Adapters of other packages: entry points, settings that select them, errors in one line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from phoneprov_adapters.composition.adapters import (
    cisco_phones,
    database_of,
    phone_driver_of,
    uploader_of,
)
from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import (
    Settings,
    SettingsError,
    check_names,
    read_settings,
)
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.switching.devices.commands import CiscoPhones
from support.keys import NEW_KEY
from support.phone_records import a_phone


def distribution(folder: Path, name: str, modules: Mapping[str, str], entry_points: str) -> None:
    """Install a package in ``folder``: its modules by name, and its metadata. ``entry_points`` is
    the text of ``entry_points.txt``."""
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")


KEYS = SecretKeys.parse(NEW_KEY)
SOURCE = """
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_core.switching.devices.ports import PhoneDriver

class Bells(PhoneDriver):
    def __init__(self): self.rung = []
    async def leave_services(self, phone): self.rung.append("leave " + phone.mac)
    async def restart(self, phone, *_): self.rung.append("restart " + phone.mac)

def bells(settings):
    return Bells()

def shelf(settings):
    shelf = settings.variables.required("PHONEPROV_SHELF")
    return MemoryUploader(settings.phone_networks, host=shelf)

def picky(settings):
    raise ValueError("the moon must be full.")
"""
ENTRY_POINTS = """
[phoneprov.uploaders]
shelf = office_things:shelf
picky = office_things:picky
gone = office_things:gone
[phoneprov.phones]
bells = office_things:bells
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with a package of adapters."""
    folder = tmp_path / "packages"
    folder.mkdir()
    distribution(folder, "office-things", {"office_things": SOURCE}, ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def chosen(**variables: str) -> Settings:
    return read_settings(variables)


def test_default_adapters_are_used_without_a_selection() -> None:
    settings = chosen()

    assert isinstance(uploader_of(settings, MemoryDatabase()), FtpUploader)
    assert isinstance(phone_driver_of(settings), CiscoPhones)
    assert isinstance(database_of(settings, SecretBox(KEYS)), SqliteDatabase)


@pytest.mark.usefixtures("installed")
def test_plugin_is_used_when_selected() -> None:
    settings = chosen(PHONEPROV_UPLOADER="shelf", PHONEPROV_SHELF="attic")
    container = Container(settings=settings, keys=KEYS)

    assert isinstance(container.uploader(), MemoryUploader)
    assert type(phone_driver_of(chosen(PHONEPROV_PHONE_DRIVER="bells"))).__name__ == "Bells"


@pytest.mark.usefixtures("installed")
def test_unknown_name_similar_to_ours_is_refused_with_other_adapters() -> None:
    check_names(chosen(PHONEPROV_UPLOADER="shelf", PHONEPROV_SHELF="attic"))
    # The example for Snom phones reads it; PHONEPROV_PHONE_PASSWORD_FILE is not meant.
    check_names(chosen(PHONEPROV_UPLOADER="shelf", PHONEPROV_SNOM_PASSWORD_FILE="/etc/snom"))

    with pytest.raises(SettingsError, match="Did you mean PHONEPROV_FTP_HOST"):
        check_names(chosen(PHONEPROV_UPLOADER="shelf", PHONEPROV_FTP_HOTS="10.0.0.1"))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("variable", "choices"),
    [
        ("PHONEPROV_UPLOADER", "ftp, served, gone, picky, shelf"),
        ("PHONEPROV_PHONE_DRIVER", "cisco, bells"),
    ],
)
def test_unknown_adapter_is_refused_with_the_choices(variable: str, choices: str) -> None:
    with pytest.raises(SettingsError) as caught:
        chosen(**{variable: "carrier-pigeon"})

    assert str(caught.value) == f"{variable} is not valid: it must be one of {choices}."


def test_unknown_database_is_refused_without_its_address() -> None:
    with pytest.raises(SettingsError, match="PHONEPROV_DATABASE_URL") as caught:
        chosen(PHONEPROV_DATABASE_URL="notes://ada:planted-secret@here")

    assert "planted-secret" not in str(caught.value)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"PHONEPROV_UPLOADER": "picky"}, "office-things, cannot be set up: the moon must be full"),
        ({"PHONEPROV_UPLOADER": "gone"}, "office-things, cannot be loaded"),
        ({"PHONEPROV_UPLOADER": "shelf"}, "PHONEPROV_SHELF is not set"),
    ],
)
def test_plugin_that_cannot_be_created_fails_with_one_line(
    variables: dict[str, str], reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        uploader_of(chosen(**variables), MemoryDatabase())

    assert "\n" not in str(caught.value)


def test_plugin_name_of_two_packages_is_refused(installed: Path) -> None:
    distribution(installed, "other-things", {}, ENTRY_POINTS)

    with pytest.raises(SettingsError, match="office-things, other-things"):
        uploader_of(chosen(PHONEPROV_UPLOADER="shelf", PHONEPROV_SHELF="attic"), MemoryDatabase())


def test_unreadable_certificates_are_reported_in_one_line(tmp_path: Path) -> None:
    settings = chosen(PHONEPROV_FTP_TLS="explicit", PHONEPROV_FTP_TLS_CA=str(tmp_path / "no.pem"))

    with pytest.raises(SettingsError, match="PHONEPROV_FTP_TLS_CA"):
        uploader_of(settings, MemoryDatabase())


@pytest.mark.usefixtures("installed")
async def test_restarts_switched_off_are_off_for_every_driver() -> None:
    driver = phone_driver_of(chosen(PHONEPROV_PHONE_DRIVER="bells", PHONEPROV_RESTART="none"))

    with pytest.raises(Conflict, match="switched off"):
        await driver.restart(a_phone(1), None)
    await driver.leave_services(a_phone(1))


async def test_our_driver_can_be_wrapped_by_another() -> None:
    driver = cisco_phones(chosen(PHONEPROV_RESTART="none"))

    with pytest.raises(Conflict, match="switched off"):
        await driver.restart(a_phone(1), None)
