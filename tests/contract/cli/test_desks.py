"""``phoneprov desks``, ``desk`` and ``phone-urls``."""

from pathlib import Path

from click.testing import CliRunner, Result

from phoneprov_http.main.cli import main


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
