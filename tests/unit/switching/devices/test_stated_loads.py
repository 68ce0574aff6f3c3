"""Whether a phone that states a firmware runs a load."""

import pytest

from phoneprov_core.switching.deployments.observation import (
    DeviceInformation,
    read_device_information,
)
from phoneprov_core.switching.devices.names import load_in, stated_load, states_load

LOAD = "SCCP45.9-4-2SR3-1S"


@pytest.mark.parametrize(
    ("stated", "load", "files", "runs"),
    [
        (LOAD, LOAD, (), True),
        (LOAD.lower(), LOAD, (), True),
        ("jar45sccp.9-4-2SR3-1.sbn", LOAD, (), True),
        ("jar45sccp.9-4-2TH1-1.sbn", LOAD, ("JAR45SCCP.9-4-2TH1-1.sbn",), True),
        ("CP7912080004SCCP080108A.sbin", "CP7912080004SCCP080108A", (), True),
        ("SCCP45.9-4-2SR1-1S", LOAD, (), False),
        ("SIP45.9-4-2SR3-1S", LOAD, (), False),
        ("P0030702T023", "P0030801SR02", (), False),
        ("sip88xx.12-8-1-0001-455", "sip88xx.14-1-1-0001-125", (), False),
        ("jar45sccp.9-4-2TH1-1.sbn", LOAD, ("jar45sccp.9-4-2SR3-1.sbn",), False),
        # The version of a file may be another than that of its load.
        ("jar45sccp.9-4-2TH1-1.sbn", LOAD, (), None),
        ("SCCP 1.2.2.6", "SCCP69xx.9-4-1-3SR3", (), None),
        (LOAD, "term45.default", (), None),
        (None, LOAD, (), None),
        ("", LOAD, (), None),
        (LOAD, "", (), None),
    ],
)
def test_statement_is_another_load_only_if_it_can_be_compared(
    stated: str | None, load: str, files: tuple[str, ...], *, runs: bool | None
) -> None:
    assert states_load(stated, load, files) is runs


@pytest.mark.parametrize(
    ("app", "version", "stated"),
    [
        ("jar45sccp.9-4-2TH1-1.sbn", "SCCP45.9-4-2SR1-1S", "SCCP45.9-4-2SR1-1S"),
        ("P0030801SR02", "8.0(10.0)", "P0030801SR02"),
        ("sip88xx.12-8-1-0001-455", "sip88xx.12-8-1-0001-455", "sip88xx.12-8-1-0001-455"),
        ("jar45sccp.9-4-2TH1-1.sbn", None, "jar45sccp.9-4-2TH1-1.sbn"),
        ("SCCP 1.2.2.6", None, "SCCP 1.2.2.6"),
        (None, "9.4(2)", "9.4(2)"),
        (None, None, None),
    ],
)
def test_name_of_a_load_is_stated_rather_than_one_of_its_files(
    app: str | None, version: str | None, stated: str | None
) -> None:
    assert stated_load(app, version) == stated


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b"<html><body>404</body></html>"),
        (200, b"<html><body>welcome</body></html>"),
        (200, b"no XML"),
        (200, b"<DeviceInformation><phoneDN>101</phoneDN></DeviceInformation>"),
    ],
)
def test_page_without_a_field_that_identifies_a_phone_is_no_phone(status: int, body: bytes) -> None:
    assert not read_device_information(status, body).is_phone
    assert DeviceInformation(model="CP-7912").is_phone


def test_host_name_states_the_mac_where_no_other_element_does() -> None:
    page = b"<DeviceInformation><HostName>SEP001BD4123456</HostName></DeviceInformation>"
    assert read_device_information(200, page).mac == "00:1B:D4:12:34:56"


@pytest.mark.parametrize(
    ("inside", "load"),
    [
        (f"<loadInformation> {LOAD} </loadInformation>", LOAD),
        ("<loadInformation></loadInformation>", None),
        ("<loadInformation/>", None),
        ("<a><loadInformation>x</loadInformation></a>", None),
        ("", None),
    ],
)
def test_configuration_names_one_load_for_the_phone(inside: str, load: str | None) -> None:
    assert load_in(f"<device>{inside}</device>") == load
