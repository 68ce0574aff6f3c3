"""Templates that are learned from configurations give them back byte for byte."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from phoneprov_adapters.rendering.renderer import check, render
from phoneprov_core.templates.learning import learn
from phoneprov_core.templates.ports import Given

MACS = {"a": "001BD4000001", "b": "001BD4000002", "c": "001BD4000003"}


def rendered(body: str, values: Any, mac: str) -> str:
    assert check(body) == ()
    phone = {"hex": mac, "mac": ":".join(mac[at : at + 2] for at in range(0, 12, 2))}
    given_names = Given({"phone": phone, "user": {}, "urls": {}}, {}, values)
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
        f'<?xml version="1.0"?>\r\n<device>\r\n <!-- {{{{ a }} -->\r\n <load>{load}</load>\r\n'
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
        "c": a_file("Cy", "3", MACS["c"]).replace("<dial>3</dial>", ""),
    }

    learned = proved(texts)

    assert [sorted(one.values) for one in learned] == [["a", "b"], ["c"]]


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


@given(st.dictionaries(st.sampled_from("abc"), st.lists(TEXT, min_size=2, max_size=2)))
@settings(max_examples=300, deadline=None)
def test_any_files_are_given_back(cells: dict[str, list[str]]) -> None:
    proved({key: f"<d><e a='{one}'>{two}</e>{{</d>" for key, (one, two) in cells.items()})
