"""The plain forms of names that searches compare."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.search import digits_as_ascii, folded, one_letter, spellings

NAMES = st.text(st.sampled_from("aeouAdj \u00e4\u00f6\u00fc\u00df\u00e6\u00f8\u00e5\u0111\u0308m"))


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("M\u00fcller", "mueller"), ("Mu\u0308ller", "mueller"), ("M\u00fcller", "muller"),
        ("Mueller", "m\u00fcller"), ("M\u00dcLLER", "Mueller"), ("J\u00f6rg", "joerg"),
        ("Stra\u00dfe", "strasse"), ("STRA\u1e9eE", "strasse"), ("\u00c6r\u00f8", "aeroe"),
        ("\u00c5rhus", "aarhus"), ("Aarhus", "\u00e5rhus"), ("S\u00f8rensen", "soerensen"),
        ("S\u00f8rensen", "sorensen"), ("\u0141ukasz", "lukasz"), ("\u0110okovi\u0107", "djokovic"),
        ("\u0418\u0432\u0430\u043d\u043e\u0432", "ivanov"), ("\u0152uvre", "oeuvre"),
        ("\u00deor", "thor"), ("Manuel", "manuel"), ("\u00c9lodie", "elodie"),
    ],
)  # fmt: skip
def test_name_is_found_by_each_of_its_spellings(name: str, typed: str) -> None:
    assert folded(typed) in spellings(name)


@pytest.mark.parametrize("name", ["SEP00AABBCCDDEE", "aa1", "1ae", "Hall", "aa_1"])
def test_name_with_digits_has_one_spelling(name: str) -> None:
    spelled = spellings(name)

    assert spelled == ((name.lower(),) if name != "aa_1" else ("aa_1", "a_1"))


@given(NAMES, st.integers(0, 20))
def test_one_letter_of_a_beginning_is_a_beginning(name: str, length: int) -> None:
    assert one_letter(folded(name)).startswith(one_letter(folded(name)[:length]))


@given(st.text())
def test_folded_text_has_no_case(text: str) -> None:
    assert folded(text) == folded(folded(text))
    assert spellings(text)[0] == folded(text)


def test_digits_of_every_script_are_ascii() -> None:
    assert digits_as_ascii("\u0661\u06f2\uff13x\u00b2") == "123x\u00b2"
