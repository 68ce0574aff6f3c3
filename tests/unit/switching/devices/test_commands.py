"""Restart keys of a phone, and the actions that Asterisk performs for it."""

import re

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.switching.devices.commands import (
    CLEAR_SERVICES,
    require_single_lines,
    restart_keys,
    sccp_restart,
    sip_restart,
)
from phoneprov_core.switching.devices.ports import KeyPress, ManagerAction

MAC = "00:1B:D4:12:34:AB"
macs = st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":").upper())


# Models and restart keys


def test_clear_services_is_one_command() -> None:
    assert [press.uri for press in CLEAR_SERVICES] == ["Init:Services"]


STARS = ["Settings", "KeyPadStar", "KeyPadStar", "KeyPadPound", "KeyPadStar", "KeyPadStar"]

MENU_441 = ["Applications", "KeyPad4", "KeyPad4", "KeyPad1", "Soft3"]

MENU_641 = ["Applications", "KeyPad6", "KeyPad4", "KeyPad1", "Soft3"]


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        ("CP-7945G", STARS),
        ("7965", STARS),
        (None, STARS),
        ("", STARS),
        ("99", STARS),
        ("T46G", STARS),
        ("Cisco 9971", MENU_441),
        ("CP-8945", MENU_441),
        ("cp-8841", MENU_641),
        ("7821", MENU_641),
    ],
)
def test_restart_keys_follow_the_firmware_family(model: str | None, keys: list[str]) -> None:
    presses = restart_keys(model)

    assert [press.uri for press in presses] == [f"Key:{key}" for key in keys]
    assert presses[0].pause == 1.0
    assert all(0 < press.pause <= 1.0 for press in presses)
    assert sum(press.pause for press in presses) < 4.0


def test_restart_star_keys_have_short_pauses() -> None:
    assert restart_keys("7945")[1:] == (
        KeyPress("Key:KeyPadStar", 0.2),
        KeyPress("Key:KeyPadStar", 0.2),
        KeyPress("Key:KeyPadPound", 0.2),
        KeyPress("Key:KeyPadStar", 0.2),
        KeyPress("Key:KeyPadStar", 0.2),
    )


# Actions for Asterisk


def test_restart_action_of_an_sccp_phone_names_the_device() -> None:
    assert sccp_restart(MAC) == ManagerAction(
        "SCCPDeviceRestart", (("DeviceName", "SEP001BD41234AB"), ("Type", "restart"))
    )


def test_restart_action_of_a_sip_phone_is_notify() -> None:
    action = sip_restart(MAC)

    assert action.name == "PJSIPNotify"
    assert action.fields[0] == ("Endpoint", "SEP001BD41234AB")
    assert {name for name, _ in action.fields[1:]} == {"Variable"}
    variables = [value for _, value in action.fields[1:]]
    assert variables[:4] == [
        "Event=service-control",
        "Content-Type=text/plain",
        "Content=action=restart",
        "Content=RegisterCallId={}",
    ]
    assert all(value.startswith("Content=") for value in variables[4:])


@given(macs)
def test_restart_action_values_hold_no_separator(mac: str) -> None:
    for action in (sip_restart(mac), sccp_restart(mac)):
        require_single_lines(action)
        for name, value in action.fields:
            assert "," not in value
            assert re.fullmatch(r"[A-Za-z]+", name)
            assert len(f"{name}: {value}") < 1000


@pytest.mark.parametrize("character", ["\r", "\n", "\0", "\r\n"])
def test_restart_action_with_line_end_is_refused(character: str) -> None:
    broken = f"a{character}b"
    for action in (
        ManagerAction(broken, ()),
        ManagerAction("Ping", ((broken, "x"),)),
        ManagerAction("Ping", (("x", "fine"), ("x", broken))),
    ):
        with pytest.raises(Invalid):
            require_single_lines(action)
