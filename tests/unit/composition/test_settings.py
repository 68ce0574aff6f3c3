"""Settings: defaults, secrets from files, and mistakes that name their variable."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from phoneprov_adapters.asterisk.connection import LOGIN_SECONDS
from phoneprov_adapters.composition.settings import SettingsError, read_settings
from phoneprov_adapters.phone.watch import FIRST_QUESTION
from phoneprov_core.devices.commands import CLEAR_SERVICES
from phoneprov_core.devices.restart import RestartBy
from phoneprov_core.kernel.levels import LevelRule


def test_nothing_needs_to_be_set() -> None:
    settings = read_settings({})

    assert settings.database_url == "sqlite+aiosqlite:///phoneprov-data/phoneprov.db"
    assert settings.public_register is False
    assert settings.level_rule is LevelRule.HIERARCHICAL
    assert settings.restart is RestartBy.AUTO
    assert settings.manager is None
    assert settings.ftp.host is None
    assert settings.ftp.port == 21
    assert (settings.phone_web.scheme, settings.phone_web.port) == ("http", 80)
    assert settings.trusted_proxies == ()
    assert settings.hash_threads == len(os.sched_getaffinity(0))


def test_an_empty_variable_counts_as_unset() -> None:
    assert read_settings({"PHONEPROV_FTP_PORT": ""}).ftp.port == 21


def test_a_secret_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hunter2 hunter2\n", encoding="utf-8")

    settings = read_settings({"PHONEPROV_FTP_PASSWORD_FILE": str(file)})

    assert settings.ftp.password == "hunter2 hunter2"


def test_no_secret_shows_in_a_representation() -> None:
    settings = read_settings(
        {
            "PHONEPROV_SECRET_KEYS": "planted-secret-" * 4,
            "PHONEPROV_FTP_PASSWORD": "planted-secret",
            "PHONEPROV_PHONE_PASSWORD": "planted-secret",
            "PHONEPROV_AMI_HOST": "pbx",
            "PHONEPROV_AMI_SECRET": "planted-secret",
            "PHONEPROV_DATABASE_URL": "postgresql+asyncpg://u:planted-secret@h/d",
        }
    )

    shown = [repr(settings), *(repr(getattr(settings, n)) for n in ("ftp", "phone_web", "manager"))]

    assert "planted-secret" not in "".join(shown)


@pytest.mark.parametrize(
    "environment",
    [
        {"PHONEPROV_FTP_PORT": "70000"},
        {"PHONEPROV_FTP_HOST": "two words"},
        {"PHONEPROV_FTP_TIMEOUT": "0"},
        {"PHONEPROV_FTP_TIMEOUT": "nan"},
        {"PHONEPROV_FTP_USER": "a\r\nb"},
        {"PHONEPROV_AMI_HOST": "pbx/1"},
        {"PHONEPROV_AMI_PORT": "-1"},
        {"PHONEPROV_PHONE_SCHEME": "gopher"},
        {"PHONEPROV_PHONE_USER": "a:b"},
        {"PHONEPROV_PHONE_NETWORKS": "10.0.0.1/8"},
        {"PHONEPROV_TRUSTED_PROXIES": "nobody"},
        {"PHONEPROV_PASSWORD_MIN": "4"},
        {"PHONEPROV_HASH_THREADS": "0"},
        {"PHONEPROV_SHARED_WRITE": "all"},
        {"PHONEPROV_RESTART": "often"},
        {"PHONEPROV_AMI_TLS": "1"},
        {"PHONEPROV_FTP_FILENAME": "phone.xml", "PHONEPROV_FTP_HOST": "tftp.example.com"},
        {"PHONEPROV_FTP_FILENAME": "a/{MAC}.xml"},
    ],
    ids=lambda environment: "+".join(f"{k}={v}" for k, v in environment.items()),
)
def test_a_mistake_names_its_variable(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(environment)

    assert next(iter(environment)) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="both set"):
        read_settings(
            {"PHONEPROV_AMI_SECRET": "x", "PHONEPROV_AMI_SECRET_FILE": str(tmp_path / "y")}
        )


def test_a_switch_with_a_mute_phone_ends_within_30_seconds() -> None:
    """The upload, then the watch and the clearing one behind the other, then the restart."""
    settings = read_settings({})
    web = settings.phone_web

    clearing = FIRST_QUESTION + len(CLEAR_SERVICES) * web.timeout
    # A second is left for the records.
    assert settings.ftp.total + clearing + web.total <= 29
    # Asterisk's events are tried beside the clearing, and before the phone's own word.
    assert clearing >= LOGIN_SECONDS + FIRST_QUESTION
