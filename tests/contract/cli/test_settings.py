"""``phoneprov settings``, and commands without an installation."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_http.main.cli import main


def phoneprov(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environment)


@pytest.mark.parametrize(
    "arguments",
    [
        ("history",),
        ("switch", "Ada", "001bd4123456"),
        ("export", "users", "-"),
        ("batch", "show"),
        ("keys", "status"),
        ("db", "upgrade"),
        ("db", "current"),
    ],
    ids=" ".join,
)
def test_command_without_installation_names_the_missing_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)

    done = phoneprov(*arguments, PHONEPROV_DATA_DIR="")

    assert done.exit_code == 2
    assert f"no database at {tmp_path}/phoneprov-data/phoneprov.db" in done.stderr
    assert "PHONEPROV_DATA_DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_shared_database_without_key_names_the_folder(tmp_path: Path) -> None:
    done = phoneprov(
        "history",
        PHONEPROV_DATA_DIR=str(tmp_path / "data"),
        PHONEPROV_DATABASE_URL="postgresql+asyncpg://u@h/d",
    )

    assert done.exit_code == 2
    assert "PHONEPROV_SECRET_KEYS is not set, and there is no folder" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_settings_show_value_and_source_and_hide_secrets(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("planted-secret")
    done = phoneprov(
        "settings",
        "--json",
        PHONEPROV_FTP_HOST="tftp.example.com",
        PHONEPROV_FTP_PASSWORD="planted-secret",
        PHONEPROV_AMI_SECRET_FILE=str(file),
        PHONEPROV_DATABASE_URL="postgresql+asyncpg://ada:planted-secret@db/phones?x=planted-secret",
    )

    assert done.exit_code == 0, done.stderr
    shown = {one["name"]: (one["value"], one["source"]) for one in json.loads(done.stdout)}
    assert shown["PHONEPROV_FTP_HOST"] == ("tftp.example.com", "environment")
    assert shown["PHONEPROV_FTP_PORT"] == ("21", "default")
    assert shown["PHONEPROV_FTP_PASSWORD"] == ("(hidden)", "environment")
    assert shown["PHONEPROV_AMI_SECRET"] == ("(hidden)", str(file))
    assert shown["PHONEPROV_DATABASE_URL"] == ("postgresql+asyncpg://***@db/phones", "environment")
    assert "planted-secret" not in done.stdout


@pytest.mark.parametrize(
    ("named", "environment"), [((), {"PHONEPROV_FTP_HOTS": "x"}), (("PHONEPROV_FTP_HOTS",), {})]
)
def test_setting_that_does_not_exist_is_named_after_the_table(
    named: tuple[str, ...], environment: dict[str, str]
) -> None:
    done = phoneprov("settings", *named, **environment)

    assert done.exit_code == 2
    assert "PHONEPROV_FTP_PORT" in done.stdout if environment else done.stdout == ""
    assert done.stderr == (
        "phoneprov: PHONEPROV_FTP_HOTS is not a setting. Did you mean PHONEPROV_FTP_HOST?\n"
    )


def test_setting_is_explained_with_its_bounds() -> None:
    done = phoneprov("settings", "PHONEPROV_SHARED_WRITE")
    as_json = phoneprov("settings", "PHONEPROV_FTP_TIMEOUT", "--json", PHONEPROV_FTP_TIMEOUT="x")

    assert done.exit_code == 0, done.stderr
    assert "Value:   one of superadmin, bearer\nDefault: `superadmin`\n" in done.stdout
    assert done.stdout.startswith("Name:    PHONEPROV_SHARED_WRITE\nMeaning: `bearer` lets every")
    assert "see Shared writing\n" in done.stdout
    assert json.loads(as_json.stdout) == {
        "name": "PHONEPROV_FTP_TIMEOUT",
        "meaning": "seconds for each step of an upload",
        "value": "more than 0 and at most 15 seconds",
        "default": "`5`",
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("PHONEPROV_LANGUAGE", "pt", "PHONEPROV_LANGUAGE: there is no catalog for pt, only for "),
        ("PHONEPROV_LANGUAGE", "d\u00e9", "PHONEPROV_LANGUAGE must be a language tag such as de"),
        (
            "PHONEPROV_LOCALE_DIR",
            "{folder}/no",
            "PHONEPROV_LOCALE_DIR must be a folder that exists",
        ),
        ("PHONEPROV_LOCALE_DIR", "{folder}", "PHONEPROV_LOCALE_DIR: {folder}/de/LC_MESSAGES/"),
        ("PHONEPROV_ASTERISK_LANGUAGES", "de;en", "PHONEPROV_ASTERISK_LANGUAGES must be languages"),
    ],
)
def test_serve_refuses_languages_that_it_cannot_use_in_one_line(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    broken = tmp_path / "de" / "LC_MESSAGES" / "phoneprov.mo"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"msgid")
    folder = tmp_path / "data"
    value, message = (text.format(folder=tmp_path) for text in (value, message))

    done = phoneprov("serve", "--port", "0", **{name: value, "PHONEPROV_DATA_DIR": str(folder)})

    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not folder.exists()
