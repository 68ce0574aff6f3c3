"""Templates that are learned from configurations give them back byte for byte."""

import time
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from phoneprov_adapters.rendering.renderer import check, render
from phoneprov_core.features.templates.learning import learn
from phoneprov_core.features.templates.use_cases import TemplateValues
from phoneprov_core.inventory.configuration.well_formed import fault_in

MACS = {"a": "001BD4000001", "b": "001BD4000002", "c": "001BD4000003"}


def rendered(body: str, values: Any, mac: str) -> str:
    assert check(body) == ()
    phone = {"hex": mac, "mac": ":".join(mac[at : at + 2] for at in range(0, 12, 2))}
    given_names = TemplateValues({"phone": phone, "user": {}, "urls": {}}, {}, values)
    return render(body, given_names, 10**6).text


def proved(texts: dict[str, str]) -> list[Any]:
    learned = learn(texts, MACS)
    back = {
        name: rendered(one.body, values, MACS[name])
        for one in learned
        for name, values in one.values.items()
    }
    assert back == texts
    return learned


def a_file(name: str, number: str, mac: str, load: str = "SCCP45") -> str:
    return (
        f'<?xml version="1.0"?>\r\n<device>\r\n <!-- {{{{ a }} {{\ufeff -->\r\n'
        f" <load>{load}</load>\r\n"
        f' <id>SEP{mac}</id>\r\n <line button="1"><label>{name}</label><n>{number}</n></line>\r\n'
        f" <dial>{number}</dial><x v='{name}'/></device>\r\n"
    )


def test_what_differs_becomes_values_and_the_mac_the_phone() -> None:
    people = {"a": ("Ada &amp; Co", "1001"), "b": ("Bob", "1002"), "c": ("Cy", "1003")}
    texts = {key: a_file(*person, MACS[key]) for key, person in people.items()}

    (learned,) = proved(texts)

    assert "<id>SEP{{ phone.hex }}</id>" in learned.body
    assert "<label>{{ values.label }}</label><n>{{ values.n }}</n>" in learned.body
    assert "<dial>{{ values.n }}</dial><x v='{{ values.label }}'/>" in learned.body
    assert "<load>SCCP45</load>" in learned.body
    assert learned.values["a"] == {"label": "Ada & Co", "n": "1001"}


def test_files_of_other_shapes_have_templates_of_their_own() -> None:
    texts = {
        "a": a_file("Ada", "1", MACS["a"]),
        "b": a_file("Bob", "2", MACS["b"]),
        "c": "<phone><label>Cy</label></phone>",
    }

    learned = proved(texts)

    assert [sorted(one.values) for one in learned] == [["a", "b"], ["c"]]


def with_lines(*buttons: int, more: str = "") -> str:
    lines = "".join(f'\n  <line button="{n}"><label>L{n}</label><id>9</id></line>' for n in buttons)
    return f"<d>\n <lines>{lines}\n </lines>{more}\n</d>\n"


def test_repeated_elements_are_conditions_of_one_template() -> None:
    texts = {
        "a": with_lines(1, 2, 5),
        "b": with_lines(1, 5).replace("L1", "Bob"),
        "c": with_lines(1, 2, 3, 4, 5, more="\n <x>1</x>"),
    }

    (learned,) = proved(texts)

    block = '{% if values.with_line_2 %}\n  <line button="3"><label>L3</label><id>9</id></line>'
    assert block in learned.body
    assert "{% if values.with_x %}" not in learned.body
    assert learned.values["b"] == {"label": "Bob", "with_line": "", "with_line_2": ""}
    assert learned.values["c"] == {"label": "L1", "with_line": "yes", "with_line_2": "yes"}


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("<e></e>", "<e>Ada</e>", "<e></e>"), {"e"}),
        (("<e>O'Neill</e>", "<e>Ada</e>", "<e>D'Arcy \"x\"</e>"), None),
        (("<e>a</e>", "\n<e>a</e>", "<e>a</e>\n"), {"with_d", "with_e"}),
        (("<e/>", "<e></e>", "<e>1</e>"), None),
        (("<!-- 1 --><e/>", "<!-- 2 --><e/>", "<e/>"), {"comment", "with_comment"}),
        (("<e a='1' b='2'/>", "<e b='2' a='1'/>", "<e a='3' b='2'/>"), None),
        (("<e><![CDATA[<&]]></e>", "<e><![CDATA[b]]></e>", "<e>b</e>"), None),
        (("<e>  a</e>", "<e>a  </e>", "<e> </e>"), {"e"}),
        (("<a/><b/>", "<b/><a/>", "<a/><c/><b/>"), None),
        (("<label_2>1</label_2>", "<label_2>2</label_2>", "<label>3</label>"), None),
        (("<e>\u0065\u0301</e>", "<e>\u00e9</e>", "<e>" + "\u0301" * 40 + "</e>"), None),
    ],
)  # fmt: skip
def test_what_some_files_lack_is_a_condition(texts: Any, values: set[str] | None) -> None:
    learned = proved(
        {key: f"<d><f/><g/>{text}</d>" for key, text in zip("abc", texts, strict=True)}
    )

    if values is not None:
        assert [set(one.values["a"]) for one in learned] == [values]


def test_more_values_than_a_profile_has_are_divided() -> None:
    texts = {
        key: "<d>" + "".join(f"<e>{key}{n}</e>" for n in range(number)) + "</d>"
        for key, number in (("a", 210), ("b", 210), ("c", 12))
    }

    learned = proved(texts)

    assert all(len(values) <= 200 for one in learned for values in one.values.values())


def test_cost_grows_as_the_number_of_files() -> None:
    def seconds(count: int) -> float:
        texts = {
            str(n): with_lines(*(b for b in range(1, 12) if n >> (b % 9) & 1)).replace("L", f"{n} ")
            for n in range(count)
        }
        began = time.process_time()
        learn(texts, {})
        return time.process_time() - began

    assert seconds(2000) < 8 * max(seconds(500), 0.05)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("&quot;", "x"), ("&#x41;", "x"), ("a\nb", "x"), ("\t", "x"), ("a'b", "x"), ("", "x"),
        ("<![CDATA[<a>]]>", "x"), ("{{ x }}", "{% y %}"), ("{", "}"), ("{#", "a{"), ("a]]", "b"),
        ("é\U0001f4de", "x"), ("a" * 5000, "x"),
    ],
)  # fmt: skip
def test_every_text_is_given_back(one: str, other: str) -> None:
    proved({"a": f"<d><e>{one}</e></d>", "b": f"<d><e>{other}</e></d>"})


TEXT = st.text(st.sampled_from("ab {}%#<>&;'\"\r\n\té"), max_size=12)
PLAIN = st.text(st.sampled_from("ab1 {}%#'\"\r\n\té"), max_size=6)
ELEMENTS = st.recursive(
    st.builds("<{0}>{1}</{0}>".format, st.sampled_from("xyz"), PLAIN),
    lambda inner: st.builds(
        lambda name, number, parts, space: (
            f'<{name} index="{number}">{space.join(parts)}</{name}>'
        ),
        st.sampled_from("xyz"), st.integers(0, 3), st.lists(inner, max_size=4),
        st.sampled_from(["", "\n ", "<!-- a -->", "t"]),
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from("abc"), st.lists(TEXT, min_size=2, max_size=2)))
@settings(max_examples=300, deadline=None)
def test_any_files_are_given_back(cells: dict[str, list[str]]) -> None:
    texts = {key: f"<d><e a='{one}'>{two}</e>{{</d>" for key, (one, two) in cells.items()}
    proved({key: text for key, text in texts.items() if fault_in(text.encode()) is None})


@given(st.dictionaries(st.sampled_from("abc"), st.lists(ELEMENTS, max_size=5), min_size=2))
@settings(max_examples=300, deadline=None)
def test_any_elements_are_given_back(files: dict[str, list[str]]) -> None:
    proved({key: f"<d>{''.join(elements)}</d>" for key, elements in files.items()})
