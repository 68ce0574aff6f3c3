"""Settings: defaults, secrets from files, and errors that name their variable."""

import os
from pathlib import Path

import pytest

from phoneprov_adapters.asterisk.connection import LOGIN_SECONDS, ManagerSettings
from phoneprov_adapters.composition.settings import (
    SettingsError,
    check_names,
    read_settings,
    settings_from,
)
from phoneprov_adapters.composition.variables import Variables
from phoneprov_adapters.phone.watch import FIRST_REQUEST_SECONDS
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.switching.devices.commands import (
    CLEAR_SERVICES,
    RestartBy,
    RestartType,
    sccp_restart,
    sip_restart,
)


@pytest.mark.parametrize(
    ("given", "served"),
    [
        ({}, False),
        ({"PHONEPROV_METRICS_TOKEN": "t" * 32}, True),
        ({"PHONEPROV_METRICS_PORT": "9"}, True),
    ],
)
def test_metrics_are_served_with_a_token_or_a_port(given: dict[str, str], served: bool) -> None:
    assert read_settings(given).has_metrics is served


def test_settings_have_defaults() -> None:
    settings = read_settings({})

    assert settings.database_url == "sqlite+aiosqlite:///phoneprov-data/phoneprov.db"
    assert settings.public_register is False
    assert settings.level_rule is LevelRule.HIERARCHICAL
    assert settings.restart is RestartBy.AUTO
    assert settings.manager is None
    assert settings.ftp.host is None
    assert settings.ftp.port == read_settings({"PHONEPROV_FTP_PORT": ""}).ftp.port == 21
    assert read_settings({"PHONEPROV_SESSION_TTL": "60"}).lifetimes.session == 60
    assert (settings.phone_web.scheme, settings.phone_web.port) == ("http", 80)
    assert settings.trusted_proxies == ()
    assert settings.hash_threads == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("name", ["SEP{MAC}.cnf.xml", "{mac}.xml", "{MAC}", "SIP{mac}.cnf"])
def test_names_that_phones_request_of_the_service_are_accepted(name: str) -> None:
    environment = {"PHONEPROV_FTP_FILENAME": name, "PHONEPROV_UPLOADER": "served"}
    assert read_settings(environment).ftp_filename == name


def test_secret_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hunter2 hunter2\n", encoding="utf-8")

    settings = read_settings({"PHONEPROV_FTP_PASSWORD_FILE": str(file)})

    assert settings.ftp.password == "hunter2 hunter2"


def test_secret_file_with_a_byte_order_mark_is_read_without_it(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_bytes(b"\xef\xbb\xbfgarden gate\r\n")

    settings = read_settings({"PHONEPROV_FTP_PASSWORD_FILE": str(file)})

    assert settings.ftp.password == "garden gate"


def test_secrets_are_in_no_representation() -> None:
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
        {"PHONEPROV_TRUSTED_PROXIES": "none"},
        {"PHONEPROV_ASTERISK_NETWORKS": "::ffff:10.0.0.0/104"},
        {"PHONEPROV_PASSWORD_MIN": "4"},
        {"PHONEPROV_HASH_THREADS": "0"},
        {"PHONEPROV_SHARED_WRITE": "all"},
        {"PHONEPROV_RESTART": "often"},
        {"PHONEPROV_AMI_TLS": "1"},
        {"PHONEPROV_FTP_FILENAME": "phone.xml"},
        {"PHONEPROV_FTP_PASSWORD": "line\nend"},
        {"PHONEPROV_AMI_SECRET": "line\r\nend", "PHONEPROV_AMI_HOST": "pbx"},
        {"PHONEPROV_PASSWORD_MIN": "100", "PHONEPROV_PASSWORD_MAX": "64"},
        {"PHONEPROV_CNF_XML_MAX": "1048577"},
        {"PHONEPROV_ACCESS_TTL": "61", "PHONEPROV_SESSION_TTL": "60"},
        {"PHONEPROV_REFRESH_TTL": "61", "PHONEPROV_SESSION_TTL": "60"},
        {"PHONEPROV_FTP_FILENAME": "a/{MAC}.xml"},
        *(
            {"PHONEPROV_FTP_FILENAME": name, "PHONEPROV_UPLOADER": "served"}
            for name in ("cfg{mac}.xml", ".{mac}.xml", "{mac}-{mac}.xml", "{mac}_2.xml")
        ),
    ],
    ids=lambda environment: "+".join(f"{k}={v}" for k, v in environment.items()),
)
def test_invalid_value_names_its_variable(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(environment)

    assert next(iter(environment)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PHONEPROV_FTP_HOTS", "PHONEPROV_FTP_HOST"),
        ("PHONEPROV_FTP_PASWORD_FILE", "PHONEPROV_FTP_PASSWORD_FILE"),
        ("PHONPROV_AMI_HOST", "PHONEPROV_AMI_HOST"),
        ("phoneprov_ami_host", "PHONEPROV_AMI_HOST"),
    ],
)
def test_misspelled_name_is_refused_with_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not a setting. Did you mean {meant}\\?$"):
        check_names(read_settings({name: "x"}))


def test_unknown_name_is_refused_unless_an_adapter_of_another_package_reads_it() -> None:
    settings = read_settings({"PHONEPROV_COFFEE": "black"})
    with pytest.raises(SettingsError, match=r"^PHONEPROV_COFFEE is not a setting"):
        check_names(settings)

    assert settings.variables.text("PHONEPROV_COFFEE", "") == "black"
    check_names(settings)


def test_line_end_in_a_secret_file_names_the_file_setting(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("two\nlines\n", encoding="utf-8")

    with pytest.raises(SettingsError, match=r"^PHONEPROV_FTP_PASSWORD_FILE must not contain"):
        read_settings({"PHONEPROV_FTP_PASSWORD_FILE": str(file)})


def test_settings_report_name_value_and_source(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hunter2\n", encoding="utf-8")
    read = Variables({"PHONEPROV_FTP_HOST": "tftp", "PHONEPROV_FTP_PASSWORD_FILE": str(file)})

    settings_from(read)

    found = {one.name: (one.value, one.source, one.secret) for one in read.readings()}
    assert found["PHONEPROV_FTP_HOST"] == ("tftp", "environment", False)
    assert found["PHONEPROV_FTP_PASSWORD"] == ("hunter2", str(file), True)
    assert found["PHONEPROV_FTP_PORT"] == ("21", "default", False)
    assert "hunter2" not in repr(read.readings())


def test_secret_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="both set"):
        read_settings(
            {"PHONEPROV_AMI_SECRET": "x", "PHONEPROV_AMI_SECRET_FILE": str(tmp_path / "y")}
        )


def test_ami_port_default_follows_tls() -> None:
    def manager(**variables: str) -> ManagerSettings:
        read = read_settings({"PHONEPROV_AMI_HOST": "pbx", **variables})
        assert read.manager is not None
        return read.manager

    assert manager().port == 5038
    tls = manager(PHONEPROV_AMI_TLS="true", PHONEPROV_AMI_TLS_CA="/etc/ca.pem")
    assert (tls.port, tls.tls_ca) == (5039, "/etc/ca.pem")
    assert manager(PHONEPROV_AMI_TLS="true", PHONEPROV_AMI_PORT="5555").port == 5555


def test_restart_type_default_is_restart() -> None:
    assert read_settings({}).restart_type is RestartType.RESTART
    reset = read_settings({"PHONEPROV_RESTART_TYPE": "reset"}).restart_type

    assert reset is RestartType.RESET
    assert ("Type", "reset") in sccp_restart("00:1B:D4:12:34:56", reset).fields
    assert ("Variable", "Content=action=reset") in sip_restart("00:1B:D4:12:34:56", reset).fields


def test_switch_with_a_silent_phone_ends_within_30_seconds() -> None:
    """The upload, then the watch and the clearing in sequence, then the restart."""
    settings = read_settings({})
    web = settings.phone_web

    clearing = FIRST_REQUEST_SECONDS + len(CLEAR_SERVICES) * web.timeout
    # One second remains for the records.
    assert settings.ftp.total + clearing + web.total <= 29
    # Asterisk's events are tried during the clearing, and before the phone's web server.
    assert clearing >= LOGIN_SECONDS + FIRST_REQUEST_SECONDS


# The provider that signs people in


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("PHONEPROV_OIDC_CLIENT_ID", "PHONEPROV_OIDC_CLIENT_ID is not"),
        ("PHONEPROV_PUBLIC_URL", "PHONEPROV_PUBLIC_URL is not"),
        ("PHONEPROV_OIDC_ISSUER", "PHONEPROV_PASSWORDS is unlinked"),
    ],
)
def test_provider_without_what_a_sign_in_needs_is_refused(missing: str, words: str) -> None:
    complete = {
        "PHONEPROV_OIDC_ISSUER": "https://login.example.org/realms/office",
        "PHONEPROV_OIDC_CLIENT_ID": "phoneprov",
        "PHONEPROV_PUBLIC_URL": "http://phones.example.org/",
        "PHONEPROV_PASSWORDS": "unlinked",
    }
    assert read_settings(complete).public_url == "http://phones.example.org"

    with pytest.raises(SettingsError, match=words):
        read_settings({name: text for name, text in complete.items() if name != missing})


@pytest.mark.parametrize(
    "issuer", ["http://login.example.org", "https://u:p@x.org", "https://x.org/?a", "ftp://x", "x"]
)
def test_provider_address_that_is_not_protected_is_refused(issuer: str) -> None:
    with pytest.raises(SettingsError, match="PHONEPROV_OIDC_ISSUER must be an https address"):
        read_settings({"PHONEPROV_OIDC_ISSUER": issuer})
