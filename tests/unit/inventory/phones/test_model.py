"""Phones as commands, and equal spellings of models."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.inventory.phones.model import (
    CreatePhone,
    PhonePatch,
    bare_model,
    software_type_of,
    speaks_sip,
)
from phoneprov_core.kernel.errors import Invalid
from support.phone_records import a_phone


@pytest.mark.parametrize(
    ("model", "bare"),
    [
        ("CP-7945G", "7945"),
        ("7945", "7945"),
        ("7945G", "7945"),
        ("cp-7945g", "7945"),
        ("Cisco 7945", "7945"),
        ("Cisco CP-7945G", "7945"),
        ("CISCO  cp-7945", "7945"),
        (" CP-7945G ", "7945"),
        ("CP-7945GG", "7945g"),
        ("CP-7911G-SW", "7911g-sw"),
        ("CP-8851NR", "8851"),
        ("CP-8851NR-K9=", "8851"),
        ("DP-9841", "9841"),
        ("CP-7971G-GE", "7971"),
        ("7961-GE", "7961"),
        ("CP-7925G-EX-K9", "7925"),
        ("Cisco IP Phone 7912", "7912"),
        ("Cisco Unified IP Phone 7945G", "7945"),
        ("Cisco Unified IP Phone CP-7945G", "7945"),
        ("Cisco IP Communicator", "ip communicator"),
        ("ATA 186", "ata 186"),
        ("Ciscophone", "ciscophone"),
        ("SPA504G", "spa504"),
        ("G", "g"),
        ("cp-", "cp-"),
        ("Cisco", "cisco"),
        ("", ""),
    ],
)
def test_model_prefix_and_suffix_are_removed(model: str, bare: str) -> None:
    assert bare_model(model) == bare


trimmings = st.sampled_from(["", "CP-", "cp-", "Cisco ", "CISCO CP-", "cisco cp-"])
cores = st.from_regex(r"[0-9]{2,4}[a-fh-z]?", fullmatch=True)


@given(trimmings, cores, st.sampled_from(["", "G", "g"]))
def test_model_spellings_are_equal(before: str, core: str, after: str) -> None:
    assert bare_model(before + core + after) == core


def test_phone_requires_a_mac_only() -> None:
    phone = CreatePhone(mac="001b.d412.3456")

    assert (phone.mac, phone.is_active, phone.model) == ("00:1B:D4:12:34:56", True, None)


def test_phone_every_invalid_field_is_named() -> None:
    with pytest.raises(Invalid) as error:
        CreatePhone(mac="ff:ff:ff:ff:ff:ff", phone_ip="nowhere", brand="a\nb", description="\x00")

    assert [problem.field for problem in error.value.problems] == [
        "mac",
        "brand",
        "description",
        "phone_ip",
    ]


def test_phone_update_is_canonical() -> None:
    assert PhonePatch(phone_ip="2001:DB8:0::1").phone_ip == "2001:db8::1"


@pytest.mark.parametrize(
    ("software_type", "sip"),
    [
        *((text, True) for text in ("SIP", "sip", " Sip ", "SIPE", "sipe\t")),
        *((text, False) for text in (None, "", " ", "SCCP", "sccp", "SIP 9.4", "sipes")),
    ],
)
def test_speaks_sip_ignores_case_and_blanks(software_type: str | None, sip: bool) -> None:
    assert speaks_sip(software_type) is sip


@pytest.mark.parametrize(
    ("recorded", "profile", "expected"),
    [(None, None, None), (" ", "SIP", "SIP"), ("sccp ", "SIP", "sccp"), ("", None, None)],
)
def test_software_type_of_the_phone_has_priority(
    recorded: str | None, profile: str | None, expected: str | None
) -> None:
    assert software_type_of(a_phone(1, software_type=recorded), profile) == expected
