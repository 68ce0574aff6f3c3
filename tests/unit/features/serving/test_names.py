"""File names that phones request."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.switching.devices.names import mac_in, plain_name


@pytest.mark.parametrize(
    ("requested", "name"),
    [
        ("SEP001BD4123456.cnf.xml", "sep001bd4123456.cnf.xml"),
        ("/English_United_States/gp-sip.jar", "english_united_states/gp-sip.jar"),
        ("//English_United_States//gp-sip.jar", "english_united_states/gp-sip.jar"),
        ("///SEP001BD4123456.cnf.xml", "sep001bd4123456.cnf.xml"),
        ("a b.xml", "a b.xml"),
    ],
)
def test_name_is_compared_in_lower_case_without_a_leading_slash(requested: str, name: str) -> None:
    assert plain_name(requested) == name


@pytest.mark.parametrize(
    "requested",
    [
        *(
            "",
            "/",
            "..",
            "../a",
            "a/../b",
            "//",
            "a/",
            "//../a",
            "a//..//b",
            "a//.b",
            "./a",
            "a/.",
            "a\\b",
            "a\0",
            "é",
            "a" * 256,
        ),
        *(".netrc", "a/.git/config", ".SEP001BD4123456.cnf.xml.part"),
    ],
)
def test_name_outside_the_folder_or_hidden_is_refused(requested: str) -> None:
    assert plain_name(requested) is None


@given(st.text(max_size=300))
def test_no_accepted_name_has_a_dangerous_segment(requested: str) -> None:
    name = plain_name(requested)

    if name is not None:
        assert not {"", ".", ".."} & set(name.split("/"))
        assert name.isascii()


@pytest.mark.parametrize(
    "name",
    [
        "SEP001BD4123456.cnf.xml",
        "sep001bd4123456.cnf.xml.sgn",
        "CTLSEP001BD4123456.tlv",
        "itlsep001bd4123456.tlv",
        "001bd4123456.xml",
        "ATA001BD4123456.cnf.xml",
        "ata001bd4123456",
        "gk001bd4123456",
        "LD001BD4123456.cnf",
        "VG001BD4123456.cnf.xml",
        "VGC001BD4123456.cnf.xml.sgn",
        "SIP001BD4123456.cnf",
    ],
)
def test_mac_is_found_in_the_names_of_a_phone(name: str) -> None:
    assert mac_in(name) == "00:1B:D4:12:34:56"


@pytest.mark.parametrize(
    "name",
    [
        *("ringlist.xml", "SEP000000000000.cnf.xml", "SEP001BD4.cnf.xml"),
        *("ATA030203SCCP051201A.zup", "XYZ001BD4123456.cnf.xml", "VG224001BD4123456.cnf.xml"),
    ],
)
def test_mac_is_not_found_in_other_names(name: str) -> None:
    assert mac_in(name) is None
