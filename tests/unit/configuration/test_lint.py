"""Findings in a configuration: their place and severity."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.configuration.catalogue import KNOWN, NUMBERS, REPEATED, WORDS
from phoneprov_core.configuration.findings import MOST_FINDINGS, Finding, Severity, has_errors
from phoneprov_core.configuration.lint import lint
from phoneprov_core.configuration.well_formed import DEEPEST

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


def test_lint_byte_order_mark_is_reported() -> None:
    assert found(b"\xef\xbb\xbf" + DESK) == [("note", "byte_order_mark", 1, 1)]


def test_lint_size_limit_follows_the_setting() -> None:
    assert found(lint_limit := b"<device/>", largest=len(lint_limit) - 1)[0][1] == "too_large"  # type: ignore[arg-type]


def test_lint_other_root_element_is_the_only_finding() -> None:
    assert found("<Default>\n<deviceProtocol>SIP</deviceProtocol></Default>") == [
        ("error", "wrong_root", 1, 1)
    ]


@pytest.mark.parametrize("word", ["true", "False", "on", "OFF", "yes", "no", "enabled"])
def test_lint_word_for_a_number_is_reported(word: str) -> None:
    content = desk("<settingsAccess>1<", f"<settingsAccess>{word}<")

    assert found(content) == [("error", "word_for_number", 27, 5)]
    assert repr(word) in lint(content)[0].message


@pytest.mark.parametrize("number", ["0", "1", "2", "", " 1 "])
def test_lint_number_for_a_number_is_accepted(number: str) -> None:
    assert found(desk("<settingsAccess>1<", f"<settingsAccess>{number}<")) == []


def test_lint_number_for_a_word_is_reported() -> None:
    content = desk("<disableSpeaker>false<", "<disableSpeaker>0<")

    assert found(content) == [("warning", "number_for_word", 26, 5)]


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
    line = 2

    assert found(desk(element)) == [(severity, "missing_element", line, 1)]
    assert name in lint(desk(element))[0].message
    emptied = f"<{name}></{name}>"
    assert found(desk(element, emptied)) == [(severity, "missing_element", line, 1)]


def test_web_access_is_accepted_in_any_of_the_three_groups() -> None:
    content = desk("    <webAccess>0</webAccess>\n").replace(
        b"</device>", b"<commonConfig><webAccess>0</webAccess></commonConfig></device>"
    )

    assert found(content) == []


def test_lint_sip_phone_without_line_is_reported() -> None:
    start, end = FRONT_DESK.index(b"<sipLines>"), FRONT_DESK.index(b"</sipLines>")
    without = FRONT_DESK[:start] + b"<sipLines>" + FRONT_DESK[end:]

    assert ("warning", "missing_element", 3, 1) in found(without)


@pytest.mark.parametrize(
    ("element", "severity", "line"),
    [
        ("<deviceProtocol>SCCP</deviceProtocol>", "error", 4),
        ("<webAccess>0</webAccess>", "error", 28),
        ("<settingsAccess>1</settingsAccess>", "warning", 27),
    ],
)
def test_duplicate_elements_are_reported(element: str, severity: str, line: int) -> None:
    content = desk(element, element + "\n" + element)

    assert found(content) == [(severity, "duplicate_element", line + 1, 1)]


def test_lint_repeated_lines_and_members_are_accepted() -> None:
    assert "duplicate_element" not in {code for _, code, _, _ in found(FRONT_DESK)}
    assert FRONT_DESK.count(b"<line ") > 30


def test_lint_same_name_in_two_places_is_no_duplicate() -> None:
    assert found(desk("<name>Default</name>", "<name>a</name>")) == []


def test_lint_unknown_element_is_reported_once_at_its_first_place() -> None:
    content = desk("<settingsAccess>", "<newFeature>1</newFeature><newFeature/><settingsAccess>")

    assert found(content) == [("note", "unknown_element", 27, 5)]


def test_lint_misspelled_element_names_the_known_one() -> None:
    content = desk("<webAccess>0</webAccess>", "<webaccess>0</webaccess>")

    assert ("warning", "other_case", 28, 5) in found(content)


def test_lint_disabled_web_server_is_reported() -> None:
    assert found(desk("<webAccess>0<", "<webAccess>1<")) == [("warning", "web_access_off", 28, 5)]


@pytest.mark.parametrize("mac", ["00:1B:D4:12:34:56", None])
def test_lint_name_of_another_phone_is_reported(mac: str | None) -> None:
    content = desk("<name>Default<", "<name>SEP001bd4123457 sep<")
    known = {"mac": mac} if mac else {}

    assert found(content, **known) == ([("warning", "other_phone", 6, 5)] if mac else [])


def test_lint_name_of_the_phone_is_accepted() -> None:
    assert found(desk("<name>Default<", "<name>SEP001bd4123456<"), mac=MAC) == []


@pytest.mark.parametrize(
    ("family", "findings"),
    [("SCCP", []), ("SIP", ["other_protocol"]), ("SIPE", ["other_protocol"])],
)
def test_lint_protocol_must_match_the_firmware_family(family: str, findings: list[str]) -> None:
    assert [code for _, code, _, _ in found(DESK, family=family)] == findings


def test_lint_sip_firmware_for_an_sccp_phone_is_reported() -> None:
    content = desk(">SCCP45.9-4-2SR3-1S<", ">sip88xx.12-8-1<")

    assert found(content) == [("warning", "other_firmware", 2, 1)]


def test_lint_unknown_protocol_is_reported() -> None:
    assert found(desk(">SCCP<", ">H323<"))[0][1] == "unknown_protocol"


@pytest.mark.parametrize(
    "element",
    ["<sshPassword>x</sshPassword>", '<a pin="1"/>', "<idleURL>http://a:b@c/</idleURL>"],
)
def test_lint_clear_secret_is_reported(element: str) -> None:
    content = desk("<settingsAccess>", f"{element}<settingsAccess>")

    assert ("note", "secret_in_clear", 27, 5) in found(content)


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
