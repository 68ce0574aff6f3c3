"""The cost of parsing any text is linear in its length."""

import time
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from phoneprov_core.inventory.configuration.comparison import NumberedStars, masked, unified_diff
from phoneprov_core.inventory.configuration.findings import MOST_FINDINGS
from phoneprov_core.inventory.configuration.lint import LONGEST_SHOWN, lint
from phoneprov_core.inventory.configuration.well_formed import LARGEST, fault_in
from support.scale import rounds

SHORT = 2 * 1024
TIMES = 16
MOST_RATIO = 4 * TIMES
"""Sixteen times the text costs about 16 times as much; with a quadratic cost it is 256 times."""
LEAST_SECONDS = 0.001
"""Shorter times count as this one, since they are noise."""

MAC = "00:1B:D4:12:34:56"

Shape = tuple[str, str, str]
"""The beginning, the repeated part, and the end of a text."""

HOSTILE: dict[str, Shape] = {
    "empty elements": ("<d>", "<a/>", "</d>"),
    "children of a long name": (f"<d><{'p' * 256}>", "<a/>", f"</{'p' * 256}></d>"),
    "repeated children": ("<device>", "<webAccess/>", "</device>"),
    "nested elements": ("<d>" * 60, "<webAccess>true</webAccess>", "</d>" * 60),
    "secrets": ("<d>", "<pin>1</pin>\n", "</d>"),
    "lines of a secret": ("<d><pin>", "1\n", "</pin></d>"),
    "lines": ("<d>", "\n", "</d>"),
    "references": ("<d>", "&lt;", "</d>"),
    "name in a comment": ("<d><!-- <", "a", " --></d>"),
    "names in a comment": ("<d><!-- ", "<a ", " --></d>"),
    "element in a comment": ("<d><!-- <a>", "a", " --></d>"),
    "attribute name in a comment": ("<d><!-- ", "a", " --></d>"),
    "attributes in a comment": ("<d><!-- ", ' a="', " --></d>"),
    "blanks after an attribute": ("<d><!-- a", " ", " --></d>"),
    "blanks after attributes": ("<d><!-- ", " a= ", " --></d>"),
    "comments": ("<d>", "<!---->", "</d>"),
    "comments in CDATA": ("<d><![CDATA[", "<!--", "]]></d>"),
    "CDATA sections": ("<d>", "<![CDATA[]]>", "</d>"),
    "end of CDATA": ("<d><![CDATA[", "]", "]]></d>"),
    "instructions": ("<d>", "<?a?>", "</d>"),
    "name in an instruction": ("<d><?a <", "a", "?></d>"),
    "user of a URL": ("<d>://", "a", "</d>"),
    "URLs": ("<d>", "://a@", "</d>"),
    "name of a parameter": ("<d>?", "a", "</d>"),
    "parameters": ("<d>", "?pin=1", "</d>"),
    "names of parameters": ("<d>", "?a", "</d>"),
    "phones": ("<d>", " SEP001122334455", "</d>"),
    "value of an attribute": ("<d pin='", "a", "'/>"),
    "blanks in a tag": ("<d a='1'", " ", "/>"),
    "values in an attribute": ("<d a='", ' pin="', "'/>"),
    "capitals": ("<d>?", "A", "=1</d>"),
    "digits": ("<d><isSecure>", "1", "</isSecure></d>"),
    "unknown names": ("<d>", "<a.b:c-\u00e9/>", "</d>"),
    "left open": ("", "<a>", ""),
    "document type": ("<!DOCTYPE d [", "<!ENTITY a 'b'>", "]><d/>"),
}


def text_of(shape: Shape, size: int) -> str:
    head, unit, tail = shape
    return head + unit * (size // len(unit)) + tail


def read(text: str) -> None:
    """Every operation on the text of a caller."""
    content = text.encode()
    lint(content, mac=MAC, family="SIP", largest=len(content))
    if fault_in(content) is None:
        shown = masked(text, NumberedStars())
        unified_diff(shown, shown[: len(shown) // 2], old_label="a", new_label="b")


def seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def assert_linear(shape: Shape) -> None:
    short, long = text_of(shape, SHORT), text_of(shape, SHORT * TIMES)
    ratio = 0.0
    for _ in range(3):  # a busy machine may disturb one of them
        ratio = seconds(lambda: read(long)) / max(seconds(lambda: read(short)), LEAST_SECONDS)
        if ratio < MOST_RATIO:
            return
    pytest.fail(f"{TIMES} times the text takes {ratio:.0f} times as long")


@pytest.mark.parametrize("name", HOSTILE)
def test_reading_hostile_text_cost_is_linear(name: str) -> None:
    assert_linear(HOSTILE[name])


PIECES = st.sampled_from(
    ["<", ">", "/", "!", "-", "--", "?", "=", "'", '"', " ", "\n", "\r", "\t", "a", "A", "1", ".",
     "_", ":", "://", "@", "#", "&", ";", "&amp;", "&#9;", "pin", "password", "key", "<a", "<a>",
     "</a>", "<a/>", "<pin>", "</pin>", "pin='", 'pin="', "<!--", "-->", "<![CDATA[", "]]>", "<?a",
     "?>", "SEP001122334455", "webAccess", "true", "\u00e9", "\U0001f4de"]
)  # fmt: skip
AROUND = st.sampled_from(
    [("<d>", "</d>"), ("<d><!--", "--></d>"), ("<d><![CDATA[", "]]></d>"), ("<d><?a ", "?></d>"),
     ("<d a='", "'/>"), ('<d pin="', '"/>'), ("<d><pin>", "</pin></d>"), ("<d>x://", "</d>"),
     ("<d>?", "</d>"), ("<!--", "--><d/>"), ("", "")]
)  # fmt: skip


@settings(
    max_examples=rounds(40, 5000), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(AROUND, st.lists(PIECES, max_size=2), st.lists(PIECES, min_size=1, max_size=4))
def test_reading_any_text_cost_is_linear(
    around: tuple[str, str], before: list[str], unit: list[str]
) -> None:
    assert_linear((around[0] + "".join(before), "".join(unit), around[1]))


def test_lint_many_elements_costs_a_small_multiple_of_parsing() -> None:
    """512 KiB took less than half a second; 20 times the cost of parsing would be one."""
    content = text_of(HOSTILE["children of a long name"], LARGEST // 4).encode()

    parsing = min(seconds(lambda: fault_in(content)) for _ in range(5))
    linting = min(seconds(lambda: lint(content, mac=MAC)) for _ in range(5))

    assert linting < 12 * parsing


def test_lint_many_long_names_findings_and_memory_are_bounded() -> None:
    """With 256 characters in each of 60 names, the path of an element would take 15 kB."""
    parent = "p" * 256
    children = "".join(f"<c{i}/>" for i in range(8000))
    text = f"<{parent}>" * 60 + children + f"</{parent}>" * 60

    tracemalloc.start()
    try:
        findings = lint(text.encode(), mac=MAC)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 16 * 1024 * 1024
    assert len(findings) == MOST_FINDINGS + 1
    assert findings[-1].code == "more_findings"
    assert all(len(finding.message) < LONGEST_SHOWN + 100 for finding in findings)


def test_lint_many_findings_at_one_place_size_is_bounded() -> None:
    name = "n" * 256
    text = f"<{name}>{'SEP001122334455 ' * 8000}</{name}>"

    findings = lint(text.encode(), mac=MAC)

    assert len(findings) == MOST_FINDINGS + 1
    assert "more findings" in findings[-1].message
    assert sum(len(finding.message) for finding in findings) < 40_000


def test_masking_half_a_mebibyte_of_secrets_grows_by_a_bounded_factor() -> None:
    text = text_of(HOSTILE["lines of a secret"], LARGEST // 4)

    assert len(masked(text, NumberedStars())) < 8 * len(text)
