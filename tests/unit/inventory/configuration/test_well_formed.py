"""Which texts are device configurations."""

import re
import time
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings, strategies as st

from phoneprov_core.inventory.configuration.well_formed import (
    DEEPEST,
    LARGEST,
    LONGEST_NAME,
    device_xml_rule,
    fault_in,
)


def objection(text: str, largest: int = LARGEST) -> str | None:
    try:
        kept = device_xml_rule(largest)(text)
    except ValueError as error:
        return str(error)
    assert kept is text, "the text is kept as it was received"
    return None


def milliseconds(text: str) -> float:
    """The shortest time of a refusal of a text."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        assert objection(text) is not None
        taken.append((time.process_time() - began) * 1000)
    return min(taken)


def nested(depth: int) -> str:
    return "<a>" * depth + "</a>" * depth


@pytest.mark.parametrize(
    "text",
    [
        "<device/>",
        "<device><deviceProtocol>SCCP</deviceProtocol></device>",
        '<?xml version="1.0"?>\r\n<device>\r\n\t<a b="c">&lt;&amp;&#x1f4de;</a>\r\n</device>\n',
        '<?xml version="1.0" encoding="UTF-8"?><a/>',
        '<?xml version="1.0" encoding="utf-8" standalone="yes"?><a/>',
        "<?xml version='1.0' encoding='Utf-8'?><a/>",
        "\ufeff<device/>",
        "\n  <device/>\n",
        "<!-- a comment --><a><![CDATA[<!DOCTYPE no>]]></a><?pi data?>",
        "<ger\u00e4t n\u00e4me='\U0001f4de'>\u65e5\u672c</ger\u00e4t>",
        "<x:a xmlns:x='urn:y' x:b=''/>",
        nested(DEEPEST),
        "<a>" + "<b/>" * 10_000 + "</a>",
    ],
)
def test_well_formed_configuration_is_accepted(text: str) -> None:
    assert objection(text) is None


@pytest.mark.parametrize(
    ("text", "reason", "at"),
    [
        ("", "no element found", "line 1, column 1"),
        ("   ", "no element found", "line 1, column 4"),
        ("not xml", "syntax error", "line 1, column 1"),
        ("<a>", "no element found", "line 1, column 4"),
        ("<a>\n  <b>\n</a>", "mismatched tag", "line 3, column 3"),
        ("<a/><b/>", "junk after document element", "line 1, column 5"),
        ("<a b='1' b='2'/>", "duplicate attribute", "line 1, column 10"),
        ("<a>&unknown;</a>", "undefined entity", "line 1, column 4"),
        ("<a>\x00</a>", "not well-formed", "line 1, column 4"),
        ("<a>&#0;</a>", "reference to invalid character number", "line 1, column 4"),
        ("<a>\ufffe</a>", "not well-formed", "line 1, column 4"),
        ("<a>\u00e9\U0001f4de</b>", "mismatched tag", "line 1, column 8"),
        (" <?xml version='1.0'?><a/>", "XML or text declaration not at start", "line 1, column 2"),
        ('{"json": true}', "not well-formed", "line 1, column 1"),
    ],
)
def test_malformed_xml_is_refused_with_line_and_column(text: str, reason: str, at: str) -> None:
    message = objection(text)

    assert message is not None
    assert message.startswith("is not well-formed XML: ")
    assert reason in message
    assert message.endswith(f"({at})")


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
        "<!DOCTYPE a PUBLIC 'x' 'http://10.0.0.1/x.dtd'><a/>",
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://10.0.0.1/'> %x;]><a/>",
    ],
)
def test_document_type_is_refused(text: str) -> None:
    message = objection("\n" + text)

    assert message is not None
    assert re.fullmatch(r"contains a document type declaration \(line 2, column \d+\)", message)


def test_entity_expansion_is_refused_at_once() -> None:
    lols = "".join(
        f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 30)
    )  # 10^27 of them
    assert milliseconds(f'<!DOCTYPE a [<!ENTITY lol0 "lol">{lols}]><a>&lol29;</a>') < 20


def test_nesting_over_64_levels_is_refused() -> None:
    assert objection(nested(64)) is None
    assert objection(nested(65)) == (
        f"is nested deeper than 64 elements (line 1, column {64 * len('<a>') + 1})"
    )
    assert objection("<a>" + nested(63) * 20 + "</a>") is None


@pytest.mark.parametrize(
    "template", ["<{}/>", "<d><{}></{}></d>", "<d {}='1'/>", "<d><a b='' {}=''/></d>"]
)
def test_names_up_to_256_characters_are_accepted(template: str) -> None:
    assert objection(template.replace("{}", "\u00e9" * LONGEST_NAME)) is None

    refused = objection(template.replace("{}", "\u00e9" * (LONGEST_NAME + 1)))
    assert refused is not None
    assert refused.startswith("contains a name longer than 256 characters (line 1, column ")


@pytest.mark.parametrize("character", ["\x7f", "\x80", "\x85", "\x9b", "\x9f"])
@pytest.mark.parametrize(
    "template",
    ["<d>{}</d>", "<d a='{}'/>", "<d><!--{}--></d>", "<d><![CDATA[{}]]></d>", "<?a {}?><d/>"],
)
def test_control_character_is_refused_with_line_and_column(template: str, character: str) -> None:
    before = template.partition("{}")[0]

    message = objection("<!-- \u00a0\u00e9 -->\r\n" + template.replace("{}", character))

    assert message == (
        "contains a control character other than tab and line ends "
        f"(line 2, column {len(before) + 1})"
    )


def test_nesting_without_end_is_refused_at_once() -> None:
    endless = "<a>" * (LARGEST // 3)

    assert "nested deeper" in (objection(endless) or "")
    assert milliseconds(endless) < 20


@pytest.mark.parametrize(
    "encoding",
    [
        "ISO-8859-1", "utf-16", "UTF-16LE", "utf8", "us-ascii", "windows-1252", "x-evil",
        "idna", "punycode", "rot13", "hex", "zlib", "unicode_escape", "raw_unicode_escape",
        "undefined", "mbcs", "utf-7", "a" * 5000,
    ],
)  # fmt: skip
def test_declared_encoding_utf_8_is_accepted(encoding: str) -> None:
    message = objection(f'<?xml version="1.0" encoding="{encoding}"?>\n<a>\u00e9</a>')

    assert message is not None
    assert message.startswith("declares an encoding other than UTF-8 (line 1, column ")


@pytest.mark.parametrize("encoding", ["", " ", "8bit", "utf-8 ", "\u00fctf-8", "a\x00b"])
def test_declared_encoding_unknown_is_refused(encoding: str) -> None:
    assert objection(f'<?xml version="1.0" encoding="{encoding}"?><a/>') is not None


@pytest.mark.parametrize("character", ["x", "\u00e9", "\u65e5", "\U0001f4de"])
def test_size_limit_counts_utf_8_bytes(character: str) -> None:
    room = 500 * 1024 - len("<a></a>")
    fits = f"<a>{character * (room // len(character.encode()))}</a>"
    text = fits + " " * (500 * 1024 - len(fits.encode()))

    assert len(text.encode()) == 500 * 1024
    assert objection(text, 500 * 1024) is None
    assert objection(text + " ", 500 * 1024) == "must be at most 512000 bytes long"


def test_half_a_mebibyte_cost_is_bounded() -> None:
    texts = [
        "<a>" + "\u00e9" * 260_000 + "</a>",
        "<a>" + "&amp;" * 100_000 + "</a>",
        "<a>" + "<b c='d'/>" * 50_000 + "</a>",
        "<a " + " ".join(f"b{n}='c'" for n in range(40_000)) + "/>",
        "<a>" + "\n" * 520_000 + "</a>",
        "<a>" + "]]" * 200_000 + "</a>",
        "<!--" + "-x" * 200_000 + "--><a/>",
    ]
    for text in texts:
        began = time.process_time()
        assert objection(text) is None
        assert time.process_time() - began < 1


def test_text_that_cannot_be_encoded_is_refused() -> None:
    assert objection("<a>\ud800</a>") == "must be text that can be encoded in UTF-8"


@given(st.text(), st.sampled_from(["", "<a>", "<?xml version='1.0' encoding='"]))
@example("\x00", "")
@example("utf-8'", "<?xml version='1.0' encoding='")
def test_any_text_is_kept_or_refused(text: str, before: str) -> None:
    message = objection(before + text)

    assert message is None or re.search(r"\(line \d+, column \d+\)$|UTF-8$", message)


tags = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
contents = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=20
)
trees: st.SearchStrategy[Any] = st.recursive(
    st.tuples(tags, contents, st.just([])),
    lambda inner: st.tuples(tags, contents, st.lists(inner, max_size=3)),
    max_leaves=6,
)


def _element(tree: Any) -> ElementTree.Element:
    tag, text, children = tree
    element = ElementTree.Element(tag, {"text": text})
    element.text = text
    element.extend(_element(child) for child in children)
    return element


@settings(max_examples=50)
@given(trees)
def test_output_of_an_xml_library_is_well_formed(tree: Any) -> None:
    assert objection(ElementTree.tostring(_element(tree), encoding="unicode")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a>\n <b>\n</c></a>", "mismatched tag, </c> where <b> of line 2 is open"),
        ("<a><l></l>\n</l></a>", "mismatched tag, </l> where <a> of line 1 is open"),
        ("<a>\n<b>", "no element found, <b> of line 2 is open"),
        ("", "no element found"),
        ("<a/></b>", "not well-formed (invalid token)"),
    ],
)
def test_tags_that_do_not_match_are_named(text: str, message: str) -> None:
    fault = fault_in(text.encode())
    assert fault is not None
    assert fault.message == f"is not well-formed XML: {message}"


def test_long_names_of_tags_are_cut() -> None:
    fault = fault_in(f"<{'a' * 200}></{'b' * 200}>".encode())
    assert fault is not None
    assert len(fault.message) < 220


@pytest.mark.parametrize(
    "text",
    [
        "image_version: P0S3-8-12-00\n",
        "# SIP\n\n; x\n line1_name : 1001\r\n",
        "\ufeffproxy1_port:1\n",
    ],
)
def test_flat_format_is_called_what_it_is(text: str) -> None:
    fault = fault_in(text.encode())
    assert fault is not None
    assert (fault.code, fault.line, fault.column) == ("flat_format", 1, 1)
    assert "flat format" in fault.message


@pytest.mark.parametrize("text", ["hello", "<a>x: 1", "# only a comment", "; " * 100_000])
def test_other_text_is_not_called_flat(text: str) -> None:
    fault = fault_in(text.encode())
    assert fault is not None
    assert fault.code == "not_well_formed"
