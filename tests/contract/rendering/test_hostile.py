"""Hostile templates: no rendering within the language takes long."""

import itertools
import time
from contextlib import suppress

import jinja2
import pytest
from hypothesis import given, settings, strategies as st

from contract.rendering.test_language import LARGEST, a_line
from phoneprov_adapters.rendering.renderer import check, render
from phoneprov_core.features.templates.model import FILTERS, MOST_ELEMENTS
from phoneprov_core.features.templates.use_cases import TemplateFault, TemplateValues
from support.scale import rounds

MOST_SECONDS = 0.5
"""Of processor time. A busy machine and one of CI may be half as fast."""
WIDE = "\U0001f600"


def longest(elements: int = MOST_ELEMENTS, lines: int | None = None) -> TemplateValues:
    """Lists and texts as long as they may be, and fields that are empty."""
    count = elements if lines is None else lines
    return TemplateValues(
        {"phone": {"name": "n" * 255, "location": "", "mac": "00:1B:D4:12:34:56"},
         "user": {"first_name": WIDE * 255, "last_name": "\u0390" * 255}, "urls": {}},
        {
            "lines": [a_line(str(number), name="l" * 255) for number in range(count)],
            "modules": [{"model": "m" * 255, "ip": ""}] * elements,
            "services": [{"name": "s" * 255, "url": "", "type": ""}] * elements,
        },
        {"a": "a" * 4096, "ab": "a" * 2048 + "b" + "a" * 2047, "w": WIDE * 4096, "empty": ""},
        frozenset(),
    )  # fmt: skip


A16 = "a" * 16_000
TWICE = "{% for p in lines %}{% for q in lines %}", "{% endfor %}{% endfor %}"


def twice(inner: str, before: str = "") -> str:
    """In two loops over the lines."""
    return before + TWICE[0] + inner + TWICE[1]


def chain(count: int, link: str) -> str:
    return "".join(itertools.repeat(link, count))


SET_A = f"{{% set x = '{A16}' %}}"
SET_WIDE = f"{{% set x = '{WIDE * 16_000}' %}}{{% set y = x ~ '' %}}"
NEEDLE = "{% set n = '" + "a" * 4000 + "b" + "a" * 4000 + "' %}"
HOSTILE = {
    # Texts that shrink cost what they were.
    "replace by nothing": twice("{% if x|replace('a', '') %}{% endif %}", SET_A),
    "replace by itself": twice("{% if x|replace('a', 'a') == '' %}{% endif %}", SET_A),
    "replace that finds nothing": twice("{% set y = x|replace(n, '') %}", SET_A + NEEDLE),
    "replace with itself": twice("{% set y = x|replace(x, '') %}", SET_A),
    "replace of given texts": twice("{% set y = values.a|replace(values.ab, '') %}"),
    "truncate without blanks": twice("{% set y = x|truncate(15000, false, '', 0) %}", SET_A),
    "truncate to nothing": twice("{% set y = x|truncate(0, true, '', 0) %}", SET_A),
    "int of a long text": twice("{% set y = x|int %}", SET_A),
    # Lists cost their elements, also if those are empty.
    "join of empty fields": twice("{% set y = modules|join('', attribute='ip') %}"),
    "join of many lists": chain(400, "{% set y = modules|join('', attribute='ip') %}"),
    "join that is too long": twice("{% set y = lines|join(x, attribute='number') %}", SET_A),
    "first of join": twice("{% set y = services|join(attribute='url')|default('x') %}"),
    # Comparisons and searches.
    "search of a near miss": twice("{% if n in x %}{% endif %}", SET_A + NEEDLE),
    "search in given texts": twice("{% if values.ab in values.a %}{% endif %}"),
    "search chain": twice("{% if n in x in x in x %}{% endif %}", SET_A + NEEDLE),
    "long constants": twice(
        "{% if x in [" + ", ".join([f"'{A16[:-1]}b'"] * 30) + "] %}{% endif %}", SET_A
    ),
    "equal wide texts": twice("{% if x == y %}{% endif %}", SET_WIDE),
    "comparison chain": twice("{% if x" + " == y == x" * 100 + " %}{% endif %}", SET_WIDE),
    "order of wide texts": twice("{% if x <= y <= x <= y %}{% endif %}", SET_WIDE),
    # Growth.
    "concatenation chain": SET_A + twice("{% set z = x ~ '' ~ '' %}"),
    "set chain": chain(300, "{% set x = values.a ~ values.a ~ values.a %}"),
    "set chain in loops": twice(chain(30, "{% set x = values.a ~ 'b' %}")),
    "upper of growing letters": twice(chain(20, "{% set x = user.last_name|upper|upper %}")),
    "replace bomb": "{% set x = 'a' %}" + chain(40, "{% set x = x|replace('a', 'aaaa') %}"),
    "output of wide texts": twice("{{ values.w }}"),
    "escapes": twice("{{ '" + "&" * 500 + "' }}"),
    "loops with conditions": "{% for p in lines if p.name in values.a %}{{ loop.length }}"
    "{% for q in lines if q.name == p.name %}{{ loop.index }}{% endfor %}{% endfor %}",
    "empty loops": chain(300, "{% for p in lines %}{% else %}{% endfor %}"),
    "raw text": twice("y" * 10_000),
    "numbers": twice("{% set n = 2147483647 - 1 + 1 - 1 + 1 - 1 + 1 %}"),
    "white space": twice(" {%- if 1 -%} \n\n\n {%- endif -%} \r\n "),
    "names of joined texts": "{% set a = phone.mac ~ values.a %}{% set b = a ~ phone.location %}"
    "{% set a = a|truncate(0, true, '', 0) %}{% set b = b|truncate(0, true, '', 0) %}"
    + chain(30, "{% set a = a ~ b %}{% set b = b ~ a %}")
    + twice("{{ a ~ b }}"),
    "comments": twice("{# " + "c" * 5000 + " #}"),
}


@pytest.mark.parametrize("lines", rounds([300], [1000, 300, 100]))
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_template_is_rendered_or_refused_in_time(what: str, lines: int) -> None:
    assert check(HOSTILE[what]) == ()
    texts = longest(lines=lines)
    began = time.process_time()
    size = 0
    with suppress(TemplateFault):
        rendered = render(HOSTILE[what], texts, LARGEST)
        size = len(rendered.text.encode()) + sum(len(mark.name) for mark in rendered.marks)
    assert size <= 2 * LARGEST
    assert time.process_time() - began < MOST_SECONDS


NAMES = sorted(
    [f"values.a|{name}" for name in jinja2.filters.FILTERS.keys() - FILTERS.keys()]
    + [f"values.a is {name}" for name in jinja2.tests.TESTS.keys() - {"defined"}]
    + [f"{subject}{dunder}" for dunder in (".__class__", "['__class__']", "|attr('pop')")
       for subject in ("''", "1", "phone", "lines", "lines[0]", "(lines|last)", "values.a",
                       "(values.a ~ 'b')", "(values.a|upper)")]
    + ["self", "caller()", "super()", "cycler", "joiner", "lipsum", "namespace()", "range(9)",
       "values.pop('a')", "'{0.__class__}'.format(1)", "phone.mac|replace(**values)", "1 if",
       "lines if 1", "lines[values.a]", "values[values.a]"]
)  # fmt: skip


@pytest.mark.parametrize(
    "body",
    ["{{ %s }}" % name for name in NAMES]  # noqa: UP031 - braces
    + [
        "{% for l in lines %}{{ loop.cycle('a') }}{% endfor %}",
        "{% for l in lines %}{{ loop.previtem }}{% endfor %}",
        "{% for l in lines %}{{ loop._iterable }}{% endfor %}", "{% set ns.x = 1 %}",
    ],
)  # fmt: skip
def test_what_leads_out_of_the_language_is_refused(body: str) -> None:
    assert check(body)
    with pytest.raises(TemplateFault):
        render(body, longest(2), LARGEST)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("# for a in lines\n## {{ phone.mac }}\n", "# for a in lines\n## 00:1B:D4:12:34:56\n"),
        ("{{ values.empty|default('%s') }}{0}%(x)s", "%s{0}%(x)s"),
        ("{{ phone.name|first }}{{ '\u0130'|lower|length }}", "n2"),
    ],
)
def test_what_other_languages_would_read_is_text(body: str, text: str) -> None:
    assert render(body, longest(2), LARGEST).text == text


OPERATIONS = st.sampled_from(
    ["|upper", "|lower", "|replace('a', 'bb')", "|replace(x, '')", "|replace('a', x)", "|int",
     "|truncate(9000)", "|truncate(3, true, '', 0)", "|length", "|first", "|last", "|default(x)",
     " ~ x", " ~ values.a ~ values.w", " == x", " in x", " < x ~ 'b'", " not in values.a",
     "|join", " + 1", " and x", " or values.ab"]
)  # fmt: skip
STARTS = st.sampled_from(
    ["x", "values.a", "values.ab", "values.w", "user.last_name", "p.name", "q.number",
     "lines|join(x, attribute='name')", "modules|join('', attribute='ip')", "services|length",
     "(lines|last).name", "lines[3].number", "loop.index"]
)  # fmt: skip
EXPRESSIONS = st.builds(lambda start, more: start + "".join(more), STARTS,
                        st.lists(OPERATIONS, max_size=4))  # fmt: skip
STATEMENTS = st.one_of(
    EXPRESSIONS.map(lambda text: f"{{% set x = {text} %}}"),
    EXPRESSIONS.map(lambda text: f"{{{{ {text} }}}}"),
    EXPRESSIONS.map(lambda text: f"{{% if {text} %}}y{{% endif %}}"),
)


@given(
    st.lists(STATEMENTS, max_size=6).map("".join),
    st.lists(STATEMENTS, min_size=1, max_size=8).map("".join),
    st.sampled_from([20, 100, 300, 1000]),
)
@settings(max_examples=rounds(25, 1000), deadline=None)
def test_cost_of_any_template_is_bounded_by_its_input(before: str, inner: str, count: int) -> None:
    body = (
        SET_A
        + before.replace("p.name", "x").replace("q.number", "x").replace("loop.index", "1")
        + twice(inner)
    )
    began = time.process_time()
    with suppress(TemplateFault):
        render(body, longest(lines=count), LARGEST)
    assert time.process_time() - began < MOST_SECONDS
