"""What is sent to a phone, and how its reply is read."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phoneprov_core.devices.commands import (
    CLEAR_SERVICES,
    require_single_lines,
    restart_action,
    restart_keys,
    sccp_restart,
    sip_restart,
)
from phoneprov_core.devices.execute import execute_body, read_execute_reply
from phoneprov_core.devices.names import (
    DEFAULT_FILENAME_TEMPLATE,
    check_filename_template,
    config_filename,
    device_name,
)
from phoneprov_core.devices.ports import KeyPress, ManagerAction
from phoneprov_core.devices.reply import REPLY_LIMIT
from phoneprov_core.kernel.errors import Invalid, Refused
from phoneprov_core.phones.model import bare_model

MAC = "00:1B:D4:12:34:AB"

macs = st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":").upper())
uris = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)


# File names


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (DEFAULT_FILENAME_TEMPLATE, "SEP001BD41234AB.cnf.xml"),
        ("{mac}.xml", "001bd41234ab.xml"),
        ("{MAC}-{mac}", "001BD41234AB-001bd41234ab"),
        ("config.xml", "config.xml"),
        ("{MAC}" + "x" * 52, "001BD41234AB" + "x" * 52),
    ],
)
def test_template_yields_the_file_name(template: str, name: str) -> None:
    assert config_filename(template, MAC) == name
    check_filename_template(template)


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
        check_filename_template(template)
    with pytest.raises(ValueError, match="file name"):
        config_filename(template, MAC)


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9._{}MACmac-]{0,80}"), macs)
def test_file_name_of_any_template_is_one_path_segment(template: str, mac: str) -> None:
    try:
        name = config_filename(template, mac)
    except ValueError:
        with pytest.raises(ValueError):
            check_filename_template(template)
    else:
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name)
        assert name not in {".", ".."}
        check_filename_template(template)


@given(macs)
def test_file_names_of_phones_are_distinct(mac: str) -> None:
    assert device_name(mac) == "SEP" + mac.replace(":", "")
    assert config_filename(DEFAULT_FILENAME_TEMPLATE, mac) == device_name(mac) + ".cnf.xml"


@pytest.mark.parametrize("mac", ["00:1b:d4:12:34:ab", "001BD41234AB", "", MAC + "\n", MAC + ":00"])
def test_file_name_requires_a_canonical_mac(mac: str) -> None:
    for use in (device_name, sccp_restart, sip_restart):
        with pytest.raises(ValueError, match="canonical"):
            use(mac)
    with pytest.raises(ValueError, match="canonical"):
        config_filename("config.xml", mac)


# Models and restart keys


@pytest.mark.parametrize(
    ("model", "bare"),
    [
        ("CP-7945G", "7945"),
        ("cp-7945g", "7945"),
        ("Cisco 7945", "7945"),
        ("CISCO CP-7945G", "7945"),
        ("7945", "7945"),
        ("  7945G ", "7945"),
        ("7945GG", "7945g"),
        ("7941G-GE", "7941g-ge"),
        ("CP-8851NR", "8851nr"),
        ("Ciscophone", "ciscophone"),
        ("T46G", "t46"),
        ("G", "g"),
        ("", ""),
    ],
)
def test_model_comparison_ignores_prefix_and_suffix(model: str, bare: str) -> None:
    assert bare_model(model) == bare


@given(st.from_regex(r"[0-9]{4}[A-FH-Z]{0,3}", fullmatch=True))
def test_model_spellings_are_equal(model: str) -> None:
    bare = bare_model(model)
    for prefix in ("", "CP-", "cp-", "Cisco ", "Cisco CP-"):
        for ending in ("", "G", "g"):
            assert bare_model(prefix + model + ending) == bare


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
        KeyPress("Key:KeyPadStar", 0.2, restarts=True),
    )


# Commands to the phone's web server


@given(uris)
@example("https://phone.example/a?b=1&c=<\"'>")
def test_command_is_sent_in_one_form_field(uri: str) -> None:
    ((field, xml),) = parse_qsl(execute_body(uri).decode("ascii"), strict_parsing=True)

    assert field == "XML"
    assert len(xml.encode()) <= 512
    root = ElementTree.fromstring(xml)  # noqa: S314 - our own text
    assert root.tag == "CiscoIPPhoneExecute"
    (item,) = root
    assert (item.tag, item.attrib) == ("ExecuteItem", {"Priority": "0", "URL": uri})


@pytest.mark.parametrize(
    "uri", ["", "x" * 257, '"' * 100, "Key:Stärn", "Key: Star", "Init:\n", "\0"]
)
def test_command_over_the_phones_limits_is_refused(uri: str) -> None:
    with pytest.raises(Invalid):
        execute_body(uri)


def test_command_of_maximum_length_is_accepted() -> None:
    assert execute_body("x" * 256)


GOOD = (
    b"<CiscoIPPhoneResponse>"
    b'<ResponseItem Status="0" Data="Success" URL="a"/>'
    b"</CiscoIPPhoneResponse>"
)
ITEM = b'<ResponseItem Status="%s" Data="" URL="a"/>'


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        b'<?xml version="1.0" encoding="iso-8859-1"?>\r\n' + GOOD,
        b'<?xml version="1.0" encoding="no-such-encoding"?>' + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"\r\n " + GOOD + b"\r\n",
        GOOD.replace(b"Success", b"Erledigt \xfc"),
        GOOD.decode().encode("utf-16"),
        GOOD.replace(b"Success", b""),
        GOOD.replace(b"/>", b"></ResponseItem>"),
        b"<CiscoIPPhoneResponse>" + ITEM % b"0" * 3 + b"</CiscoIPPhoneResponse>",
    ],
)
def test_reply_with_success_raises_nothing(body: bytes) -> None:
    read_execute_reply(200, body)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 6, 7, 99])
def test_reply_error_keeps_its_number(number: int) -> None:
    with pytest.raises(Refused, match=rf"\berror {number}\b"):
        read_execute_reply(
            200, b'<CiscoIPPhoneError Number="%d">Secret</CiscoIPPhoneError>' % number
        )


@pytest.mark.parametrize("number", [0, 4])
def test_reply_refused_login_names_the_settings(number: int) -> None:
    with pytest.raises(Refused, match="PHONEPROV_PHONE_USER"):
        read_execute_reply(200, b'<CiscoIPPhoneError Number="%d"/>' % number)


def test_reply_known_errors_have_messages() -> None:
    messages = set()
    for number in (1, 2, 3, 4, 6, 7):
        with pytest.raises(Refused) as caught:
            read_execute_reply(200, b'<CiscoIPPhoneError Number="%d"/>' % number)
        messages.add(re.sub(r"\d", "N", caught.value.message))
    assert len(messages) == 6


@pytest.mark.parametrize("position", [0, 1, 2])
def test_reply_with_one_failed_item_is_a_failure_with_its_status(position: int) -> None:
    items = [ITEM % b"0"] * 3
    items[position] = ITEM % b"6"

    with pytest.raises(Refused, match=r"\bstatus 6\b"):
        read_execute_reply(
            200, b"<CiscoIPPhoneResponse>" + b"".join(items) + b"</CiscoIPPhoneResponse>"
        )


@pytest.mark.parametrize("status", [401, 403])
def test_reply_http_401_names_the_settings(status: int) -> None:
    with pytest.raises(Refused, match=rf"HTTP {status}.*PHONEPROV_PHONE_USER"):
        read_execute_reply(status, GOOD)


@pytest.mark.parametrize("status", [100, 201, 204, 301, 302, 307, 404, 500, 503])
def test_reply_other_status_is_named(status: int) -> None:
    with pytest.raises(Refused, match=f"HTTP {status}"):
        read_execute_reply(status, GOOD)


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b'<CiscoIPPhoneResponse><ResponseItem Status="0" Data="&b;"/></CiscoIPPhoneResponse>'
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"OK",
        b"<html>raw-reply-text</html>",
        b"<CiscoIPPhoneResponse/>",
        b"<CiscoIPPhoneResponse><x>" + ITEM % b"0" + b"</x></CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse><ResponseItem/></CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse>" + ITEM % b"0",
        b"<CiscoIPPhoneResponse>" + ITEM % b"raw-reply-text" + b"</CiscoIPPhoneResponse>",
        b"<CiscoIPPhoneResponse>" + ITEM % b"&#1632;" + b"</CiscoIPPhoneResponse>",
        b"<other>" + ITEM % b"0" + b"</other>",
        b"<ciscoipphoneresponse>" + ITEM % b"0" + b"</ciscoipphoneresponse>",
        b"<CiscoIPPhoneError/>",
        b'<CiscoIPPhoneError Number=""/>',
        b'<CiscoIPPhoneError Number="1e3"/>',
        b'<CiscoIPPhoneError Number="%s"/>' % (b"9" * 5000),
        GOOD + GOOD,
        b"<!DOCTYPE x>" + GOOD,
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + GOOD,
        BOMB,
        GOOD.replace(b"Success", b"&undefined;"),
        GOOD + b" " * REPLY_LIMIT + b"<!-- -->",
        b"<a>" * 20000,
    ],
)
def test_reply_malformed_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="cannot be parsed"):
        read_execute_reply(200, body)


@given(
    st.integers(100, 599) | st.just(200),
    st.binary(max_size=200)
    | st.text().map(str.encode)
    | st.lists(
        st.sampled_from([GOOD, BOMB, b"<CiscoIPPhoneResponse>", ITEM, b"<", b">", b"&", b"\0"])
    ).map(b"".join),
)
def test_reply_any_content_is_parsed_and_not_quoted(status: int, body: bytes) -> None:
    message = ""
    try:
        read_execute_reply(status, body)
    except Refused as refused:
        message = refused.message

    if message:
        assert len(message) < 200
        assert message.isprintable()
        assert message.endswith(".")
    else:
        assert status == 200
        assert b'Status="0"' in body


@given(st.text(st.characters(codec="ascii", categories=["L"]), min_size=12, max_size=40))
def test_reply_text_of_the_phone_is_not_quoted(words: str) -> None:
    marked = f"zq{words}zq".encode()
    for body in (
        marked,
        b"<%s/>" % marked,
        b'<CiscoIPPhoneError Number="1">%s</CiscoIPPhoneError>' % marked,
        b'<CiscoIPPhoneError Number="%s"/>' % marked,
        b'<CiscoIPPhoneResponse><ResponseItem Status="6" Data="%s"/></CiscoIPPhoneResponse>'
        % marked,
    ):
        with pytest.raises(Refused) as caught:
            read_execute_reply(200, body)
        assert marked.decode() not in str(caught.value)


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


@pytest.mark.parametrize(
    ("software_type", "name"),
    [
        ("SIP", "PJSIPNotify"),
        ("sip", "PJSIPNotify"),
        ("SIPE", "PJSIPNotify"),
        (" sipE ", "PJSIPNotify"),
        ("SCCP", "SCCPDeviceRestart"),
        ("SIPX", "SCCPDeviceRestart"),
        ("", "SCCPDeviceRestart"),
        (None, "SCCPDeviceRestart"),
    ],
)
def test_restart_action_follows_the_software_type(software_type: str | None, name: str) -> None:
    assert restart_action(software_type, MAC).name == name


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
