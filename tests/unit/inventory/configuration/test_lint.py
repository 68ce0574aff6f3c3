"""Findings in a configuration: their place and severity."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.inventory.configuration.findings import (
    KNOWN,
    MOST_FINDINGS,
    NUMBERS,
    REPEATED,
    WORDS,
    Finding,
    Severity,
    has_errors,
)
from phoneprov_core.inventory.configuration.lint import lint
from phoneprov_core.inventory.configuration.well_formed import DEEPEST

SAMPLES = Path(__file__).parent / "samples"
FRONT_DESK = (SAMPLES / "sip_front_desk.cnf.xml").read_bytes()
DESK = (SAMPLES / "sccp_desk.cnf.xml").read_bytes()
MAC = "00:1B:D4:12:34:56"


def found(content: bytes | str, **known: str) -> list[tuple[str, str, int, int]]:
    text = content.encode() if isinstance(content, str) else content
    return [(f.severity.value, f.code, f.line, f.column) for f in lint(text, **known)]  # type: ignore[arg-type]


def desk(old: str = "", new: str = "") -> bytes:
    """The valid SCCP sample with one change."""
    assert old.encode() in DESK
    return DESK.replace(old.encode(), new.encode(), 1) if old else DESK


def test_lint_plain_configuration_has_no_finding() -> None:
    assert lint(DESK, mac=MAC, family="SCCP") == ()


def test_lint_real_configuration_has_secret_findings_only() -> None:
    findings = lint(FRONT_DESK, mac=MAC, family="SIP")

    assert {finding.code for finding in findings} == {"secret_in_clear"}
    assert [finding.line for finding in findings if "adminPassword" in finding.message] == [564]
    assert len(findings) == 13
    assert not has_errors(findings)


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("servicesURL", "no_phone_services"),
        ("authenticationURL", "no_authentication"),
    ],
)
def test_lint_profile_without_phone_services_is_a_warning(element: str, code: str) -> None:
    line = next(one for one in DESK.decode().splitlines() if f"<{element}>" in one)
    for new in ("", f"<{element}></{element}>"):
        assert ("warning", code) in [one[:2] for one in found(desk(line, new))]
    elsewhere = desk("/phone/services", "/other")
    assert [one[:2] for one in found(elsewhere)] == [("warning", "no_phone_services")]
    services = (
        "<phoneServices><phoneService><url>http://p/phone/services</url></phoneService>"
        "</phoneServices>"
    )
    assert (
        found(desk("<servicesURL>http://10.20.0.20/phone/services</servicesURL>", services)) == []
    )


def test_findings_hold_no_secret() -> None:
    messages = " ".join(finding.message for finding in lint(FRONT_DESK))

    assert not {"4711", "moat", "drawbridge", "horse", "9753"} & set(
        messages.replace(":", " ").split()
    )


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (b"<device>\n  <a></b></device>", ("error", "not_well_formed", 2, 8)),
        (b"", ("error", "not_well_formed", 1, 1)),
        (b"<device>\xe9</device>", ("error", "not_well_formed", 1, 9)),
        (b"<!DOCTYPE d>\n<device/>", ("error", "document_type", 1, 12)),
        (b'<?xml version="1.0" encoding="latin1"?><device/>', ("error", "wrong_encoding", 1, 1)),
        ("<device/>".encode("utf-16"), ("error", "wrong_encoding", 1, 1)),
        (b"<a>" * (DEEPEST + 1), ("error", "too_deep", 1, DEEPEST * 3 + 1)),
        (b"<device>" + b" " * 512 * 1024, ("error", "too_large", 1, 1)),
    ],
)
def test_lint_text_without_configuration_has_one_finding(
    content: bytes, finding: tuple[str, str, int, int]
) -> None:
    assert found(content) == [finding]


def test_lint_text_is_reported_by_its_beginning_size_or_root() -> None:
    assert found(b"\xef\xbb\xbf" + DESK) == [("note", "byte_order_mark", 1, 1)]
    too_large = lint(b"<device/>", largest=8)
    assert [finding.code for finding in too_large] == ["too_large"]
    other_root = "<flat-profile>\n<deviceProtocol>SIP</deviceProtocol></flat-profile>"
    assert ("error", "wrong_root", 1, 1) in found(other_root)


SETTINGS = "<settingsAccess>1</settingsAccess>"
NAME = "<name>Default</name>"
NUMBER = ("error", "word_for_number", 27, 5)
CHANGES: list[tuple[str, str, list[tuple[str, str, int, int]]]] = [
    *((f">1</{SETTINGS[1:15]}", f">{word}</{SETTINGS[1:15]}", [NUMBER])
      for word in ("true", "False", "on", "OFF", "yes", "no", "enabled")),
    *((f">1</{SETTINGS[1:15]}", f">{number}</{SETTINGS[1:15]}", [])
      for number in ("0", "1", "2", "", " 1 ")),
    ("<disableSpeaker>false<", "<disableSpeaker>0<", [("warning", "number_for_word", 26, 5)]),
    ("<deviceProtocol>SCCP</deviceProtocol>",
     "<deviceProtocol>SCCP</deviceProtocol>\n<deviceProtocol>SCCP</deviceProtocol>",
     [("error", "duplicate_element", 5, 1)]),
    ("<webAccess>0</webAccess>", "<webAccess>0</webAccess>\n<webAccess>0</webAccess>",
     [("error", "duplicate_element", 29, 1)]),
    (SETTINGS, f"{SETTINGS}\n{SETTINGS}", [("warning", "duplicate_element", 28, 1)]),
    # The same name in two places is no duplicate.
    (NAME, "<name>a</name>", []),
    ("<settingsAccess>", "<newFeature>1</newFeature><newFeature/><settingsAccess>",
     [("note", "unknown_element", 27, 5)]),
    ("<webAccess>0<", "<webAccess>1<", [("warning", "web_access_off", 28, 5)]),
    (NAME, "<name>SEP001bd4123457 sep</name>", [("warning", "other_phone", 6, 5)]),
    (NAME, "<name>SEP001bd4123456</name>", []),
    (">SCCP45.9-4-2SR3-1S<", ">sip88xx.12-8-1<", [("warning", "other_firmware", 2, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "findings"), CHANGES)
def test_lint_change_has_its_findings(
    old: str, new: str, findings: list[tuple[str, str, int, int]]
) -> None:
    assert found(desk(old, new), mac=MAC) == findings


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("<webAccess>0</webAccess>", "<webaccess>0</webaccess>", ("warning", "other_case", 28, 5)),
        (">SCCP<", ">H323<", ("warning", "unknown_protocol", 4, 3)),
        *(
            ("<settingsAccess>", f"{element}<settingsAccess>", ("note", "secret_in_clear", 27, 5))
            for element in (
                "<sshPassword>x</sshPassword>",
                '<a pin="1"/>',
                "<idleURL>http://a:b@c/</idleURL>",
            )
        ),
    ],
)
def test_lint_change_has_this_finding_among_others(
    old: str, new: str, finding: tuple[str, str, int, int]
) -> None:
    assert finding in found(desk(old, new))


def test_lint_messages_name_the_value_and_no_phone_is_compared_without_its_mac() -> None:
    assert "'enabled'" in lint(desk(">1</settings", ">enabled</settings"))[0].message
    assert found(desk(NAME, "<name>SEP001bd4123457 sep</name>")) == []


def test_web_access_is_accepted_in_any_of_the_three_groups() -> None:
    content = desk("    <webAccess>0</webAccess>\n").replace(
        b"</device>", b"<commonConfig><webAccess>0</webAccess></commonConfig></device>"
    )

    assert found(content) == []


@pytest.mark.parametrize(
    ("element", "severity"),
    [
        ("  <deviceProtocol>SCCP</deviceProtocol>\n", "warning"),
        ("  <loadInformation>SCCP45.9-4-2SR3-1S</loadInformation>\n", "warning"),
        ("    <webAccess>0</webAccess>\n", "warning"),
        ("            <processNodeName>10.20.0.10</processNodeName>\n", "error"),
    ],
)
def test_missing_required_elements_are_reported_at_the_root(element: str, severity: str) -> None:
    name = element.split("<")[1].split(">", maxsplit=1)[0]

    for new in ("", f"<{name}></{name}>"):
        assert found(desk(element, new)) == [(severity, "missing_element", 2, 1)]
    assert name in lint(desk(element))[0].message


def test_lint_sip_phone_without_line_is_reported_and_many_lines_are_no_duplicates() -> None:
    start, end = FRONT_DESK.index(b"<sipLines>"), FRONT_DESK.index(b"</sipLines>")
    without = FRONT_DESK[:start] + b"<sipLines>" + FRONT_DESK[end:]

    assert ("warning", "missing_element", 3, 1) in found(without)
    assert "duplicate_element" not in {code for _, code, _, _ in found(FRONT_DESK)}
    assert FRONT_DESK.count(b"<line ") > 30


@pytest.mark.parametrize(
    ("family", "findings"),
    [("SCCP", []), ("SIP", ["other_protocol"]), ("SIPE", ["other_protocol"])],
)
def test_lint_protocol_must_match_the_firmware_family(family: str, findings: list[str]) -> None:
    assert [code for _, code, _, _ in found(DESK, family=family)] == findings


def test_lint_findings_are_sorted_and_bounded() -> None:
    many = "".join(f"<a{i}/>\n" for i in range(MOST_FINDINGS + 50))

    findings = lint(desk("  <versionStamp>", f"{many}<versionStamp>"))

    assert len(findings) == MOST_FINDINGS + 1
    assert list(findings) == sorted(findings, key=lambda f: (f.line, f.column))
    assert (findings[-1].severity, findings[-1].code) == (Severity.NOTE, "more_findings")
    assert findings[-1].message.startswith("50 more")


def test_lint_only_errors_count_as_errors() -> None:
    def one(severity: Severity) -> tuple[Finding, ...]:
        return (Finding(severity, 1, 1, "x", "y"),)

    assert has_errors(one(Severity.ERROR))
    assert not has_errors(one(Severity.WARNING) + one(Severity.NOTE))


@given(st.binary(max_size=200) | st.text(alphabet="<>/a&;!-[]\"'= \n", max_size=80).map(str.encode))
def test_lint_any_bytes_raise_no_error(content: bytes) -> None:
    assert all(finding.line >= 1 and finding.column >= 1 for finding in lint(content, mac=MAC))


def test_lint_element_has_one_kind_only() -> None:
    assert not NUMBERS & WORDS
    assert not REPEATED & (NUMBERS | WORDS)
    assert all(name.isalnum() for name in KNOWN)


NODE = "<processNodeName>10.20.0.10</processNodeName>"
XML_DEFAULT = f"""<Default>
<callManagerGroup><members><member priority="0"><callManager>{NODE}</callManager></member></members>
</callManagerGroup>
<loadInformation435 model="7945">SCCP45.9-4-2SR3-1S</loadInformation435>
<loadInformation8>P0030801SR02</loadInformation8>
</Default>"""


def test_lint_file_of_phones_without_their_own_has_no_finding() -> None:
    assert lint(XML_DEFAULT.encode()) == ()
    assert found(XML_DEFAULT.replace(NODE, "")) == [("warning", "missing_element", 1, 1)]
    twice = XML_DEFAULT.replace("loadInformation8>", "loadInformation435>")
    assert found(twice) == [("warning", "duplicate_element", 5, 1)]
    other = XML_DEFAULT.replace("loadInformation8>", "loadInformationX>")
    assert found(other) == [("note", "unknown_element", 5, 1)]


@pytest.mark.parametrize("known", [{"mac": MAC}, {"family": "SCCP"}])
def test_lint_file_of_phones_without_their_own_is_none_of_a_phone(known: dict[str, str]) -> None:
    assert found(XML_DEFAULT, **known) == [("error", "wrong_root", 1, 1)]


@pytest.mark.parametrize("load", ["SCCP45.9-4-2SR3-1S.loads", "sccp45.LOADS", "apps37.1-4.bin",
                                  "CP79.zup", "S001.SBN", "a b", "x/y"])  # fmt: skip
def test_lint_load_with_an_ending_is_a_warning(load: str) -> None:
    ours = found(desk(">SCCP45.9-4-2SR3-1S<", f">{load}<"))
    assert [code for _, code, _, _ in ours] == ["wrong_value"]
    module = f"<addOnModule><loadInformation>{load}</loadInformation></addOnModule>"
    modules = f"<addOnModules>{module}</addOnModules></device>"
    assert "wrong_value" in {code for _, code, _, _ in found(desk("</device>", modules))}
    default = XML_DEFAULT.replace("P0030801SR02", load)
    assert found(default) == [("warning", "wrong_value", 5, 1)]


def test_lint_load_with_the_ending_of_a_list_names_the_requested_file() -> None:
    (finding,) = lint(desk("3-1S</load", "3-1S.loads</load"))
    assert "request a file .loads.loads" in finding.message


@pytest.mark.parametrize("host", ["http://10.0.0.5", "sip:pbx", "10.0.0.5:5060", "pbx:5061", "a b",
                                  "[2001:db8::1]:5060", "10.0.0.5/x", "tftp://pbx"])  # fmt: skip
@pytest.mark.parametrize("name", ["processNodeName", "loadServer"])
def test_lint_host_with_a_scheme_or_port_is_a_warning(host: str, name: str) -> None:
    if name == "processNodeName":
        content = desk(NODE, NODE.replace("10.20.0.10", host))
    else:
        content = desk("</device>", f"<{name}>{host}</{name}></device>")
    (finding,) = lint(content)
    assert (finding.severity, finding.code) == (Severity.WARNING, "wrong_value")
    assert finding.message.startswith(name)
    assert host not in finding.message


@pytest.mark.parametrize("host", ["10.0.0.5", "pbx.example.com", "2001:db8::1", "pbx_1", "a-b"])
def test_lint_plain_host_is_no_finding(host: str) -> None:
    assert lint(desk(NODE, NODE.replace("10.20.0.10", host))) == ()


@pytest.mark.parametrize("url", ["10.0.0.5/directory.php", "pbx:8080/x", "directory", "//pbx/x",
                                 r"file:\\10.0.0.1\usb\d.xml", "file:///d.xml", "ftp://pbx/secret",
                                 "http:pbx/x", "http:///x", "javascript:x"])  # fmt: skip
@pytest.mark.parametrize("name", ["directoryURL", "secureMessagesURL", "idleURL"])
def test_lint_url_that_phones_do_not_open_is_a_warning(url: str, name: str) -> None:
    (finding,) = lint(desk("</device>", f"<{name}>{url}</{name}></device>"))
    assert (finding.severity, finding.code) == (Severity.WARNING, "wrong_value")
    assert finding.message.startswith(name)
    assert "secret" not in finding.message


@pytest.mark.parametrize("url", ["http://pbx/x?a=#DEVICENAME#", "HTTPS://10.0.0.5:8443/", "",
                                 "Application:Cisco/MissedCalls", "Key:Directories",
                                 "http://[2001:db8::1]/"])  # fmt: skip
def test_lint_url_that_phones_open_is_no_finding(url: str) -> None:
    assert lint(desk("</device>", f"<directoryURL>{url}</directoryURL></device>")) == ()


LINE = "<name>1</name><authPassword>x</authPassword>"


def sip(*lines: str, load: str = "sip88xx.12-8-1", node: str = NODE, buttons: str = "12") -> str:
    """A SIP configuration with these lines."""
    inside = "".join(
        f'\n<line button="{number}">{line}</line>'
        for number, line in zip(buttons, lines, strict=False)
    )
    text = desk(">SCCP<", ">SIP<").decode().replace(">SCCP45.9-4-2SR3-1S<", f">{load}<")
    text = text.replace(NODE, node)
    return text.replace(
        "</device>", f"<sipProfile><sipLines>{inside}</sipLines></sipProfile></device>"
    )


def codes(text: str) -> list[str]:
    """The codes of warnings and errors."""
    return [one.code for one in lint(text.encode()) if one.severity is not Severity.NOTE]


@pytest.mark.parametrize("load", ["sip88xx.12-8-1", "sip8832.14-1", "sip78xx.12-8", ""])
def test_lint_line_with_a_password_and_no_name_is_a_warning(load: str) -> None:
    expected = [] if load else ["missing_element"]
    assert codes(sip(LINE, load=load)) == [*expected, "no_auth_name"]
    assert codes(sip(f"{LINE}<authName/>", load=load)) == [*expected, "no_auth_name"]
    assert codes(sip(f"<authName>1</authName>{LINE}", load=load)) == expected
    # One line does not speak for the next one.
    lines = f"<authName>1</authName>{LINE}", LINE, "<name>3</name>"
    assert codes(sip(*lines, load=load, buttons="123")) == [*expected, "no_auth_name"]


@pytest.mark.parametrize("load", ["SIP45.9-4-2SR3-1S", "SIP41.9-4", "P0S3-8-12-00"])
def test_lint_line_without_a_name_is_right_for_7900_phones(load: str) -> None:
    assert "no_auth_name" not in codes(sip(LINE, load=load))


@pytest.mark.parametrize(("buttons", "count"), [("12", 0), ("11", 1), ("111", 2)])
def test_lint_two_lines_at_a_button_are_a_warning(buttons: str, count: int) -> None:
    text = sip("<name>1</name>", "<name>2</name>", "<name>3</name>", buttons=buttons)
    assert codes(text) == ["same_place"] * count


def test_lint_two_modules_at_an_index_are_a_warning() -> None:
    module = '<addOnModule idx="{}"><loadInformation>B016-1-0-4-2</loadInformation></addOnModule>'
    for numbers, expected in ((("1", "2"), []), (("1", "1"), ["same_place"]),
                              (("01", "1"), ["same_place"])):  # fmt: skip
        modules = "".join(map(module.format, numbers))
        text = desk("</device>", f"<addOnModules>{modules}</addOnModules></device>").decode()
        assert codes(text) == expected


@pytest.mark.parametrize(
    ("proxy", "expected"),
    [
        ("<proxy>10.0.0.5</proxy>", []),
        ("<proxy>USECALLMANAGER</proxy>", ["missing_element"]),
        ("<proxy/>", ["missing_element"]),
        ("", ["missing_element"]),
    ],
)
def test_lint_sip_phone_registers_with_the_proxy_of_its_line(
    proxy: str, expected: list[str]
) -> None:
    assert codes(sip(f"<name>1</name>{proxy}", node="")) == expected


def test_lint_service_of_a_button_is_known() -> None:
    service = "<serviceURI>http://pbx/phone/services</serviceURI>"
    assert lint(sip(f"<name>1</name>{service}").encode()) == ()
