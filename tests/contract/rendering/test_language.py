"""The language of templates: what it has, what it has not, and what a rendering may cost."""

import asyncio
import html
import re
import time
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from phoneprov_adapters.rendering.renderer import JinjaRenderer, check, render
from phoneprov_adapters.rendering.texts import FILTERS
from phoneprov_core.features.templates import model as language
from phoneprov_core.features.templates.use_cases import TemplateFault, TemplateValues
from phoneprov_core.switching.deployments.ports import ValuePlace

LARGEST = 512 * 1024


def a_line(number: str, **fields: Any) -> dict[str, Any]:
    line = {"number": number, "name": f"Line {number}", "password": f"secret {number}"}
    return {**line, "voicemail": number == "1", "type": "chan_sccp", **fields}


def names(lines: int = 2, **values: str) -> TemplateValues:
    return TemplateValues(
        {
            "phone": {"mac": "00:1B:D4:12:34:56", "name": "Front desk", "location": ""},
            "user": {"first_name": "Ada", "last_name": "O'Neill & <Sons>"},
            "urls": {"services": "http://p/phone/services?a=1&b=2"},
        },
        {
            "lines": [a_line(str(number)) for number in range(1, lines + 1)],
            "modules": [{"model": "7916", "ip": ""}],
            "services": [],
        },
        values,
        frozenset({"admin_password"}),
    )


def text_of(body: str, given_: TemplateValues | None = None) -> str:
    assert check(body) == ()
    return render(body, given_ or names(), LARGEST).text


def fault_of(body: str, given_: TemplateValues | None = None) -> tuple[int, int, str]:
    with pytest.raises(TemplateFault) as fault:
        render(body, given_ or names(), LARGEST)
    return fault.value.line, fault.value.column, fault.value.reason


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{{ phone.mac }} {{ phone['name'] }}", "00:1B:D4:12:34:56 Front desk"),
        ("{{ user.last_name }}", "O&#39;Neill &amp; &lt;Sons&gt;"),
        ("{{ '<' ~ 1 ~ '\"' }}", "&lt;1&#34;"),
        ("{% for line in lines %}{{ loop.index }}{{ line.number }};{% endfor %}", "11;22;"),
        ("{% for l in lines if l.voicemail %}{{ l.number }}{% endfor %}", "1"),
        ("{% for s in services %}x{% else %}none{% endfor %}", "none"),
        ("{% for l in lines %}{{ l.number }}{% if not loop.last %},{% endif %}{% endfor %}", "1,2"),
        ("{% for l in lines %}{% for m in modules %}{{ l.number }}{% endfor %}{% endfor %}", "12"),
        ("{% if values.vlan %}a{% elif lines %}b{% else %}c{% endif %}", "b"),
        ("{{ 'a' if modules else 'b' }}{{ 'a' if not services else 'b' }}", "aa"),
        ("{{ 'a' if services }}{% set x = 'b' if 0 %}{{ x ~ 'c' }}", "c"),
        ("{% set x = user.first_name ~ '!' %}{{ x }}{# no #}", "Ada!"),
        ("{{ values.x|default('7') }}{{ phone.location|default('8') }}", "78"),
        ("{{ values.x|default('7', true) }}{{ values.x|default(default_value='8') }}", "78"),
        ("{{ 'aB'|upper }}{{ 'aB'|lower }}{{ 'aba'|replace('a', 'xy') }}", "ABabxybxy"),
        ("{{ 'one two three'|truncate(7) }}{{ 'abcdefghij'|truncate(4, true, '', 0) }}",
         "one...abcd"),
        ("{{ '12'|int + 3 - 1 }}{{ 'x'|int(5) }}{{ lines|length }}{{ 'abc'|length }}", "14523"),
        ("{{ lines|join(',', attribute='number') }} {{ (lines|first).name }}", "1,2 Line 1"),
        ("{{ (lines|last).number }} {{ lines[1].number }}", "2 2"),
        ("{{ 'a' in ['a', 'b'] }}{{ 'x' not in 'abc' }}{{ values.x is defined }}",
         "truetruefalse"),
        ("{{ lines[0].voicemail }}{{ 1 == 1 and 2 > 1 }}", "truetrue"),
        ("a\r\n{{ 'b' }}\rc\n{%- if 1 %}\n d{% endif %}\r\n", "a\r\nb\rc\n d\r\n"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
    ],
)  # fmt: skip
def test_body_renders_as_this_text(body: str, text: str) -> None:
    assert text_of(body) == text


FORBIDDEN = {
    "{{ phone.mac() }}": "A call",
    "{{ range(3) }}": "A call",
    "{{ phone.items() }}": "A call",
    "{% include 'x' %}": "`include`",
    "{% import 'x' as y %}": "`import`",
    "{% from 'x' import y %}": "`from ... import`",
    "{% extends 'x' %}": "`extends`",
    "{% block x %}{% endblock %}": "`block`",
    "{% macro x() %}{% endmacro %}": "`macro`",
    "{% call x() %}{% endcall %}": "`call`",
    "{% filter upper %}{% endfilter %}": "A `filter` block",
    "{% set x %}a{% endset %}": "A `set` block",
    "{% with x = 1 %}{% endwith %}": "`with`",
    "{% autoescape false %}{{ phone.mac }}{% endautoescape %}": "`autoescape`",
    "{{ 'a' * 3 }}": "`*`",
    "{{ 2 ** 9 }}": "`**`",
    "{{ 1 / 2 }}": "`/`",
    "{{ 1 // 2 }}": "`//`",
    "{{ '%99999999d' % 1 }}": "`%`",
    "{{ -phone.mac }}": "`-` before a value",
    "{{ phone.mac[0:2] }}": "A slice",
    "{{ {'a': 1} }}": "An object",
    "{{ (1, 2) }}": "A tuple",
    "{{ [1, 2] }}": "A list outside of `in`",
    "{{ phone.mac in [phone.name] }}": "A list with anything but constants",
    "{{ lines[loop.index] }}": "An index that is not a constant",
    "{{ phone.mac.__class__ }}": "The field `__class__` of a text",
    "{{ ''['__class__'] }}": "The field `__class__` of a text",
    "{{ 'x'|safe }}": "The filter `safe`",
    "{{ 'x'|attr('y') }}": "The filter `attr`",
    "{{ 'x'|format(1) }}": "The filter `format`",
    "{{ 'x'|each(1) }}": "The filter `each`",
    "{{ 'x'|concatenated }}": "The filter `concatenated`",
    "{{ 'x'|center(10) }}": "The filter `center`",
    "{{ 'x'|upper(*lines) }}": "A filter with `*`",
    "{{ 'x'|upper(1) }}": "The arguments of `upper`",
    "{{ 'x'|replace('x') }}": "The arguments of `replace`",
    "{{ 'x'|replace('x', new='y', new='z') }}": "The arguments of `replace`",
    "{{ 'x'|lower(context='y') }}": "The arguments of `lower`",
    "{{ lines|join(',') }}": "`join` needs the name of a field of lines",
    "{{ lines|join(attribute='colour') }}": "lines.colour is not given",
    "{{ lines|join(',', attribute=lines[0].password) }}": "`join` needs the name of a field",
    "{% set \ufb01 = 'x' %}": "The name \ufb01 has other characters than letters",
    "{% for \uff4cine in lines %}{% endfor %}": "has other characters than letters",
    "{{ phone.mac is string }}": "The test `string`",
    "{{ 1.5 }}": "Another constant",
    "{{ none }}": "Another constant",
    "{{ 99999999999 }}": "Another constant",
    "{% for a, b in lines %}{% endfor %}": "`for` with several names",
    "{% for a in lines recursive %}{% endfor %}": "A recursive `for`",
    "{% for a in 'abc' %}{% endfor %}": "`for` runs over",
    "{% for a in lines|first %}{% endfor %}": "`for` runs over",
    "{% for a in lines %}{% for b in lines %}{% for c in lines %}{% endfor %}{% endfor %}"
    "{% endfor %}": "A `for` inside of 2 others",
    "{% set phone = 'x' %}": "phone cannot be assigned",
    "{% set _x = 'x' %}": "_x cannot be assigned",
    "{% set x.y = 'x' %}": "`set` of anything but a name",
    "{% for lines in lines %}{% endfor %}": "lines cannot be assigned",
    "{{ lines }}": "lines is a list",
    "{{ lines|upper }}": "lines is a list",
    "{% set x = lines %}": "lines is a list",
    "{{ phone }}": "phone is an object",
    "{{ values }}": "values is an object",
    "{{ phone in lines }}": "phone is an object",
    "{{ phone.colour }}": "phone.colour is not given",
    "{{ phone['colour'] }}": "phone.colour is not given",
    "{% for l in lines %}{{ l.colour }}{% endfor %}": "l.colour is not given",
    "{% for l in lines %}{{ loop.cycle }}{% endfor %}": "loop.cycle is not given",
    "{{ (lines|first).colour }}": "lines.colour is not given",
    "{{ loop.index }}": "loop is not given",
    "{{ colour }}": "colour is not given",
    "{{ self }}": "self is not given",
    "{{ cycler }}": "cycler is not given",
    "{{ lipsum }}": "lipsum is not given",
    "{% do 1 %}": "Encountered unknown tag",
    "{{ a": "Unexpected end of template",
    "{% if 1 %}": "Unexpected end of template",
    "{# a": "Missing end of comment tag",
    "{#": "Missing end of comment tag",
    "{#-": "Missing end of comment tag",
    "{% raw %}": "Missing end of raw directive",
    "{% raw %}{{": "Missing end of raw directive",
    "{%": "Tag name expected",
    "{{-": "Unexpected 'end of template'",
    "\x01": "control character",
    "a\x85b": "control character",
}


@pytest.mark.parametrize("body", FORBIDDEN)
async def test_construct_outside_of_the_language_is_a_finding(body: str) -> None:
    filler = "<a>\r\n  é"
    findings = await JinjaRenderer().check(filler + body)

    assert FORBIDDEN[body] in findings[0].message
    assert (findings[0].line, findings[0].column > 3) == (2, True)
    with pytest.raises(TemplateFault):
        await JinjaRenderer().render(filler + body, names(), LARGEST)


def test_all_findings_are_reported_with_their_places() -> None:
    found = check(
        "<a>{{ nope }}\r\n{% for x in lines %}\r\n é{{ x.b }}{{ 2 ** 3 }}{% endfor %}</a>"
    )

    assert [(one.line, one.column, one.code) for one in found] == [
        (1, 7, "not_given"),
        (3, 7, "not_given"),
        (3, 15, "not_allowed"),
    ]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("a\r\n é{{ values.vlan }}", (2, 6, "values.vlan is not given.")),
        ("{{ lines[7].name }}", (1, 4, "The list has no element 7.")),
        ("{{ (services|first).name }}", (1, 5, "The list has no elements.")),
        ("a\n{{ 1 + 'a' }}", (2, 4, "`+` takes whole numbers; texts are joined with `~`.")),
        ("{{ 2147483647 + 1 }}", (1, 4, "A number is too large.")),
        ("{{ 'a' < 1 }}", (1, 4, "These values cannot be compared or used together.")),
        ("{{ values.x == 'a' }}", (1, 4, "values.x is not given.")),
        ("{{ values.x|upper }}", (1, 4, "values.x is not given.")),
        ("{{ 'a'|replace('', 'b') }}", (1, 4, "`replace` needs a text to replace.")),
        ("{{ 1 + 'a' }}\n{{ user.username }}",
         (1, 4, "`+` takes whole numbers; texts are joined with `~`.")),
        ("{{ lines[0].password|int }}",
         (1, 4, "A secret cannot be a number: it would be shown.")),
        ("{{ 'a' in 'a'|length }}", (1, 4, "`in` searches a text or a list of constants.")),
    ],
)  # fmt: skip
def test_fault_has_line_and_column(body: str, fault: tuple[int, int, str]) -> None:
    assert fault_of(body) == fault


@pytest.mark.parametrize("character", ["\x00", "\n", "\t", "\x1f", "\x7f", "\x9f", "\ufffe"])
def test_control_character_in_a_given_text_is_refused(character: str) -> None:
    assert "control character" in fault_of("{{ values.x }}", names(x=f"a{character}b"))[2]


DOUBLING = "{% set x = 'abcdefgh' %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}"
NESTED = "{% for a in lines %}{% for b in lines %}" + "{% if 0 %}{% endif %}" * 200
ADVERSARIAL = {
    "doubling": (DOUBLING, 2),
    "doubling in a loop": (
        "{% set x = 'ab' %}{% for a in lines %}" + "{% set x = x ~ x %}" * 30 + "{% endfor %}",
        1000,
    ),
    "replace": ("{{ '" + "a" * 500 + "'|replace('a', '" + "b" * 500 + "') }}", 2),
    "replace chain": (
        "{% set x = 'a' %}" + "{% set x = x|replace('a', 'aaaaaaaaaa') %}" * 30 + "{{ x }}",
        2,
    ),
    "join": ("{{ lines|join('" + "s" * 16_000 + "', attribute='number') }}", 1000),
    "nested loops": (NESTED + "{% endfor %}{% endfor %}", 1000),
    "nested output": (
        "{% for a in lines %}{% for b in lines %}{{ a.name }}{% endfor %}{% endfor %}", 1000
    ),
    "many nested loops": (
        "{% for a in lines %}{% for b in lines %}{% endfor %}{% endfor %}" * 500, 100
    ),
    "long list": ("{% for a in lines %}{% endfor %}", 1001),
    "search": (
        "{% for a in lines %}{% for b in lines %}{{ 'x' in '" + "a" * 16_000
        + "' }}{% endfor %}{% endfor %}", 1000,
    ),
    "upper": (
        "{% set x = '" + "\u0390" * 6000 + "' %}" + "{% set x = x|upper %}" * 300, 2
    ),
    "output": ("{{ '" + "<" * 16_000 + "' }}" * 1 + ("{% for a in lines %}" + "y" * 1000
               + "{% endfor %}"), 1000),
}  # fmt: skip


@pytest.mark.parametrize("what", ADVERSARIAL)
def test_cost_of_a_rendering_is_bounded(what: str) -> None:
    body, lines = ADVERSARIAL[what]
    assert check(body) == ()
    began = time.process_time()

    reason = fault_of(body, names(lines))[2]

    assert re.search("too much work|has more than", reason)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("body", "lines", "threads"),
    [
        ("{% for line in lines %}{{ line.number }}{% endfor %}", 100, 0),
        (ADVERSARIAL["nested output"][0], 150, 1),
        (ADVERSARIAL["nested output"][0], 1000, 1),
    ],
)
async def test_long_rendering_runs_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, body: str, lines: int, threads: int
) -> None:
    calls: list[str] = []

    async def noted(function: Any, *arguments: Any) -> Any:
        calls.append(function.__name__)
        return function(*arguments)

    monkeypatch.setattr(asyncio, "to_thread", noted)
    given_ = names(lines)

    if lines < 1000:
        expected = render(body, given_, LARGEST)
        assert await JinjaRenderer().render(body, given_, LARGEST) == expected
    else:
        with pytest.raises(TemplateFault, match="too much work"):
            await JinjaRenderer().render(body, given_, LARGEST)

    assert len(calls) == threads


UNREADABLE = {
    "parentheses": "{{ " + "(" * 100_000,
    "not": "{{ " + "not " * 50_000 + "1 }}",
    "chain": "{{ 1" + " + 1" * 50_000 + " }}",
    "concatenation": "{{ 1" + " ~ 1" * 50_000 + " }}",
    "filters": "{{ 'a'" + "|upper" * 50_000 + " }}",
    "if": "{% if 1 %}" * 20_000 + "{% endif %}" * 20_000,
    "digits": "{{ 1" + "1" * 100_000 + " }}",
    "outputs": "{{ 1 }}" * 60_000,
    "constant": "{{ '" + "a" * 400_000 + "' }}",
    "braces": "{" * 500_000,
    "size": "a" * 600_000,
    "subscripts": "{{ values" + "['a']" * 50_000 + " }}",
    "names after lines": "\r\n" * 240_000 + "{{ a }}" * 2000,
    "long names": ("{{ " + "a" * 5000 + " }}") * 90,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_cost_of_a_check_is_bounded(what: str) -> None:
    began = time.process_time()

    findings = check(UNREADABLE[what])

    assert what == "braces" or findings
    assert sum(len(one.message) for one in findings) < 100_000
    assert time.process_time() - began < 6


def test_many_elements_are_rendered() -> None:
    text = text_of("{% for a in lines %}{{ a.number }} {% endfor %}", names(1000))

    assert text.split() == [str(number) for number in range(1, 1001)]


def test_marks_are_the_places_of_given_texts() -> None:
    body = "<é>{{ user.last_name }}</é>{{ lines[0].password|upper }}{{ 'x' ~ phone.name }}{{ 'y' }}"

    rendered = render(body, names(admin_password="p"), LARGEST)

    content = rendered.text.encode()
    assert [(content[m.start : m.end].decode(), m.name, m.secret) for m in rendered.marks] == [
        ("O&#39;Neill &amp; &lt;Sons&gt;", "user.last_name", False),
        ("SECRET 1", "lines.password", True),
        ("xFront desk", "phone.name", False),
    ]
    assert "secret" not in repr(rendered).lower().replace("secret=", "")
    secret = render("{{ values.admin_password }}", names(admin_password="p"), LARGEST)
    assert secret.marks == (ValuePlace(0, 1, "values.admin_password", True),)


def test_language_names_each_filter() -> None:
    assert language.FILTERS.keys() == FILTERS.keys()


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
                max_size=60)  # fmt: skip
POSITIONS = (
    "<a b='{{ values.x }}' c=\"{{ values.x }}\">{{ values.x }}<d>{{ 'z' ~ values.x }}</d>"
    "<e><![CDATA[{{ values.x }}]]></e><?p {{ values.x }}?></a>"
)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_every_given_text_is_the_same_text_in_the_result(text: str) -> None:
    root = ElementTree.fromstring(text_of(POSITIONS, names(x=text)))  # noqa: S314 - our own text

    # An XML parser reads other white space in attributes as blanks; there is none here.
    assert (root.get("b"), root.get("c"), root.text) == (text, text, text or None)
    assert root[0].text == f"z{text}"
    # Nothing leaves a CDATA section or an instruction; there an entity is shown as it is written.
    assert [one.tag for one in root] == ["d", "e"]
    assert html.unescape(root[1].text or "") == text


PARTS = st.sampled_from(
    ["{{ ", " }}", "{% ", " %}", "for a in lines", "endfor", "if ", "endif", "set x = ", "x", "a",
     "a.name", "phone.mac", "values.x", "|", "upper", "replace('a', 'aa')", "join(x)", "~", "+",
     "*", "**", "(", ")", "[", "]", "'", "0", "7", "<a>", "</a>", "\r\n", " ", "lines", "else",
     "elif x", "loop.index", "in", "not ", "is defined", "-", ".", "__class__", "{#", "#}", "raw",
     "endraw", "include 'x'", "é"]
)  # fmt: skip


@given(st.lists(PARTS, max_size=40).map("".join))
@settings(max_examples=500, deadline=None)
def test_any_body_is_rendered_or_refused_with_a_place(body: str) -> None:
    findings = check(body)
    lines = body.count("\r\n") + 1
    for finding in findings:
        assert 1 <= finding.line <= lines
        assert 1 <= finding.column <= len(body) + 1
    fault, rendered = None, None
    try:
        rendered = render(body, names(3, x="<&>"), LARGEST)
    except TemplateFault as raised:
        fault = raised
    if fault is not None:
        assert (1 <= fault.line <= lines, fault.reason[-1]) == (True, ".")
    if rendered is not None:
        assert not findings
        for mark in rendered.marks:
            assert b"<" not in rendered.text.encode()[mark.start : mark.end]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{$mac}", "{$mac}"),
        ("{$line.1.number|upper}", "{$line.1.number|upper}"),
        ("${mac}", "${mac}"),
        ("#{phone.mac}", "#{phone.mac}"),
        ("{mac}", "{mac}"),
        ("{MAC}", "{MAC}"),
        ("<%= @mac %>", "<%"),
        ("<% if x %>", "<%"),
        ("<?php echo $mac; ?>", "<?php"),
        ("<?= $mac ?>", "<?="),
    ],
)
@pytest.mark.parametrize("before", ["", "{{ phone.mac }}", "{% raw %}x{% endraw %}"])
def test_placeholder_of_another_language_is_a_finding(text: str, shown: str, before: str) -> None:
    body = f"<device>\n {before}<name>{text}</name></device>"

    (finding,) = check(body)

    assert (finding.code, finding.line) == ("other_language", 2)
    assert finding.column == len(before) + 8
    assert f"`{shown}`" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        '<?xml version="1.0" encoding="UTF-8"?><device/>',
        "<d>{Jan 01 2003 00:00:00}</d>",
        "<d>{1143565489-a3cbf294-7526-4c29-8791-c4fce4ce4c37}</d>",
        "<d>costs $5, {a} # {b}, x@y, %20</d>",
        "<d>{# {$mac} <% #}{{ '{$mac}' }}</d>",
    ],
)
def test_other_text_with_braces_is_no_finding(body: str) -> None:
    assert check(body) == ()
