"""File names of phones."""

import re

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.switching.devices.commands import sccp_restart, sip_restart
from phoneprov_core.switching.devices.names import (
    DEFAULT_FILENAME_PATTERN,
    check_filename_pattern,
    config_filename,
    device_name,
)

MAC = "00:1B:D4:12:34:AB"
macs = st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":").upper())


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (DEFAULT_FILENAME_PATTERN, "SEP001BD41234AB.cnf.xml"),
        ("{mac}.xml", "001bd41234ab.xml"),
        ("{MAC}-{mac}", "001BD41234AB-001bd41234ab"),
        ("config.xml", "config.xml"),
        ("{MAC}" + "x" * 52, "001BD41234AB" + "x" * 52),
    ],
)
def test_template_yields_the_file_name(template: str, name: str) -> None:
    assert config_filename(template, MAC) == name
    check_filename_pattern(template)


@pytest.mark.parametrize(
    "template",
    [
        "",
        ".",
        "..",
        "../{MAC}",
        "a/{MAC}",
        "a\\{MAC}",
        "{MAC}\n",
        "{MAC}\r\nDELE x",
        "{MAC}\0",
        "{Mac}",
        "{mac:>20}",
        "{mac.__class__}",
        "{{MAC}}",
        "{MA{mac}C}",
        "SEP {MAC}",
        "é{MAC}",
        "{MAC}" + "x" * 53,
    ],
)
def test_template_with_an_unsafe_result_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="file name"):
        check_filename_pattern(template)
    with pytest.raises(ValueError, match="file name"):
        config_filename(template, MAC)


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9._{}MACmac-]{0,80}"), macs)
def test_file_name_of_any_template_is_one_path_segment(template: str, mac: str) -> None:
    try:
        name = config_filename(template, mac)
    except ValueError:
        with pytest.raises(ValueError):
            check_filename_pattern(template)
    else:
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name)
        assert name not in {".", ".."}
        check_filename_pattern(template)


@given(macs)
def test_file_names_of_phones_are_distinct(mac: str) -> None:
    assert device_name(mac) == "SEP" + mac.replace(":", "")
    assert config_filename(DEFAULT_FILENAME_PATTERN, mac) == device_name(mac) + ".cnf.xml"


@pytest.mark.parametrize("mac", ["00:1b:d4:12:34:ab", "001BD41234AB", "", MAC + "\n", MAC + ":00"])
def test_file_name_requires_a_canonical_mac(mac: str) -> None:
    for use in (device_name, sccp_restart, sip_restart):
        with pytest.raises(ValueError, match="canonical"):
            use(mac)
    with pytest.raises(ValueError, match="canonical"):
        config_filename("config.xml", mac)
