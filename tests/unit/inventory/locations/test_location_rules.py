"""What an emergency call from a location presents."""

import unicodedata

from hypothesis import given, strategies as st

from phoneprov_core.inventory.locations import (
    Emergency,
    Location,
    emergency_of,
)
from phoneprov_core.people.access import beginnings, is_within
from support.phone_records import a_location

PARTS = st.sampled_from(["Berlin", "berlin ", "3", "301", "Straße", "STRASSE", "ü", "u\u0308"])
TEXTS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
VALUES = st.none() | st.sampled_from(["+491", "+492", "+493"])


def located(name: str, number: str | None, place: str | None = None) -> Location:
    return a_location(1, name=name, emergency_number=number, emergency_place=place)


def compared(text: str) -> list[str]:
    """The parts of a name by another way than the rule: character by character."""
    return [unicodedata.normalize("NFC", one.casefold()).strip() for one in text.split("/")]


@given(TEXTS, st.dictionaries(TEXTS, st.tuples(VALUES, VALUES), max_size=6))
def test_value_is_that_of_the_longest_name_that_has_one(
    location: str, named: dict[str, tuple[str | None, str | None]]
) -> None:
    once = {tuple(compared(name)): (name, values) for name, values in named.items()}
    known = [located(name, *values) for name, values in once.values()]
    parts = compared(location)
    applying = [
        (len(key), values) for key, (_, values) in once.items() if parts[: len(key)] == list(key)
    ]

    def longest(which: int) -> str | None:
        having = [(length, values[which]) for length, values in applying if values[which]]
        return max(having)[1] if having else None

    assert emergency_of(location, known) == Emergency(longest(0), longest(1))
    assert emergency_of(location, reversed(known)) == emergency_of(location, known)
    for name in named:
        assert is_within(location, name) == (parts[: len(compared(name))] == compared(name))


def test_name_is_a_beginning_only_up_to_a_slash() -> None:
    known = [located("Berlin", "+491"), located("Berlin/3", None, "Third floor")]
    assert emergency_of("Berlin/3/301", known) == Emergency("+491", "Third floor")
    assert emergency_of("berlin / 3", known) == Emergency("+491", "Third floor")
    assert emergency_of("Berlin/30", known) == Emergency("+491", None)
    assert emergency_of("Berlin 3", known) == emergency_of("Berli", known) == Emergency()
    assert emergency_of(None, known) == emergency_of("", known) == Emergency()


def test_beginnings_are_the_longest_first() -> None:
    assert beginnings("A/b/C") == ("a/b/c", "a/b", "a")
    assert beginnings(None) == ()
