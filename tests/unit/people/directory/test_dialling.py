"""What a phone can dial of what people write into the field of a number."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.people.directory.use_cases import LONGEST_NUMBER, dialled, not_offered

NO_NUMBER = "has no number that a phone can dial"


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("+44 20 7946 0018", "+442079460018"),
        ("+44 (0)20 7946-0018", "+442079460018"),
        ("0044 ( 0 ) 20 7946", "0044207946"),
        ("030/12 34-56", "030123456"),
        ("030 / 1234567", "0301234567"),
        ("(030) 12.34", "0301234"),
        ("01/40/05/06", "01400506"),
        ("*21#", "*21#"),
        ("(+49) 30 1", "+49301"),
        ("00 +49 30 1", "+49301"),
        ("\u0660\u0663\u0660 \u0661\u0662", "03012"),
        ("\uff0b\uff14\uff19 30", "+4930"),
        ("+49 30\u00a0\u20111\u2013", "+49301"),
        ("\u202a+49 30 1\u202c", "+49301"),
        ("sip:1001@pbx.example", "1001"),
        ("tel:+1-555-0100;ext=5", "+15550100"),
        ("+1 555 0100 x5", "+15550100"),
        ("555 ext. 12", "555"),
        ("555 EXT 12", "555"),
        ("030 1 (Reception)", "0301"),
        ("Office 030 1", "0301"),
        ("030 1 \u2026 030 2", "0301"),
    ],
)
def test_number_is_offered_as_it_is_dialled(written: str, number: str) -> None:
    assert dialled(written) == number
    if "\u2026" not in written:
        assert not_offered(written) is None


@pytest.mark.parametrize(
    ("written", "first", "count"),
    [
        ("+49 30 11 / +49 30 12", "+493011", 2),
        ("030 11 / 030 12", "03011", 2),
        ("+49 30 11 ::: +49 30 12", "+493011", 2),
        ("0301, 0302; 0303", "0301", 3),
        ("030 11 or 030 12", "03011", 2),
        ("+4930 1+4930 2", "+49301", 2),
    ],
)
def test_first_of_several_numbers_is_offered(written: str, first: str, count: int) -> None:
    assert dialled(written) == first
    assert not_offered(written) == f"has {count} numbers; phones offer the first, {first}"


@pytest.mark.parametrize(
    "written",
    ["0800 FLOWERS", "1-800-TAXIS", "0800-Taxi", "sip:ada@pbx", "ada@example.com", "?", "+", "#*",
     "1" * (LONGEST_NUMBER + 1), "+" + "1" * LONGEST_NUMBER],
)  # fmt: skip
def test_text_without_a_number_is_not_offered(written: str) -> None:
    assert dialled(written) == ""
    assert not_offered(written) == NO_NUMBER


def test_text_longer_than_a_field_is_not_read() -> None:
    assert dialled("1" + "a" * 5_000_000) == ""


@given(st.text() | st.text(st.sampled_from("+0123 /()x;,:*#aZ\u0663.-@\u202a"), max_size=40))
def test_offered_number_is_one_that_a_phone_can_dial(written: str) -> None:
    number = dialled(written)

    digits = number.removeprefix("+")
    assert digits == "" == number or (set(digits) <= set("0123456789*#") and digits.strip("*#"))
    assert len(number) <= LONGEST_NUMBER
    assert (not_offered(written) == NO_NUMBER) == (number == "")
    if number:
        assert dialled(number) == number
