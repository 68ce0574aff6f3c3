"""Values other than addresses: one canonical form, or a refusal."""

import ipaddress
import time
import unicodedata
from collections.abc import Callable
from zoneinfo import available_timezones

import pytest
from hypothesis import example, given, strategies as st

from phoneprov_core.kernel import values, values as addresses
from phoneprov_core.kernel.fields import each, fields_of
from phoneprov_core.kernel.values import uuid
from phoneprov_core.people.access import CreatePermission
from support.refusals import refused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Text


lines = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=80).filter(
    lambda text: bool(text.strip()) and not values.INVISIBLE.search(text)
)


@given(lines)
def test_line_is_normalised_to_nfc(line: str) -> None:
    normal = values.required_text(line)

    assert normal == unicodedata.normalize("NFC", line)
    assert values.required_text(normal) == normal
    assert values.text(line) == normal


@pytest.mark.parametrize(
    "hidden", "\u00ad\u061c\u115f\u200b\u200d\u200e\u202e\u2060\u2069\u3164\ufe0f\ufeff\U000e0041"
)
def test_line_with_invisible_or_direction_character_is_refused(hidden: str) -> None:
    for rule in (values.line, values.required_text, values.email, values.service_url):
        with pytest.raises(ValueError, match="invisible"):
            rule(f"http://a{hidden}da@x.y")
    assert values.text(f"a{hidden}da")


def test_line_letters_and_accents_are_composed() -> None:
    assert values.required_text("Zoe\u0308") == "Zo\u00eb"
    assert values.description("Zoe\u0308") == "Zo\u00eb"


controls = st.characters(categories=["Cc"])


@given(st.text(max_size=5), controls, st.text(max_size=5))
@example("a", "\x00", "b")
@example("a", "\n", "b")
@example("a", "\t", "")
@example("", "\x7f", "b")
@example("", "\x85", "b")
@example("", "\r", "")
def test_line_with_control_characters_is_refused(before: str, control: str, after: str) -> None:
    for rule in (values.required_text, values.text):
        with pytest.raises(ValueError, match="control characters"):
            rule(before + control + after)


@given(lines, controls, lines)
def test_description_accepts_tabs_and_line_breaks_only(
    before: str, control: str, after: str
) -> None:
    text = before + control + after
    if control in "\t\n\r":
        assert values.description(text) == unicodedata.normalize("NFC", text)
    else:
        with pytest.raises(ValueError, match="control characters"):
            values.description(text)


def test_lone_surrogates_are_refused() -> None:
    for rule in (values.required_text, values.description, values.email, values.url):
        with pytest.raises(ValueError, match="must"):
            rule("http://a/\ud800")


@pytest.mark.parametrize(
    ("rule", "longest"),
    [(values.required_text, 255), (values.text, 255), (values.description, 2048)],
)
@pytest.mark.parametrize("character", ["x", "\u00e9", "\U0001f4de"])
def test_text_limit_counts_characters(
    rule: Callable[[str], str], longest: int, character: str
) -> None:
    assert rule(character * longest) == character * longest
    with pytest.raises(ValueError, match=f"at most {longest} characters"):
        rule(character * (longest + 1))


def test_length_limit_applies_to_the_stored_text() -> None:
    decomposed = "e\u0301" * 255

    assert len(values.required_text(decomposed)) == 255


@pytest.mark.parametrize("blank", ["", " ", "   ", "\u00a0", "\u2003\u3000"])
def test_required_line_blank_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        values.required_text(blank)
    assert values.text(blank) == blank


# Identifiers and names


Rule = Callable[[str], str]
ACCEPTED: dict[Rule, list[str]] = {
    values.timezone: sorted(available_timezones() - {"localtime"})[::60],
    values.language: [
        "en", "de-CH", "zh-Hant-TW", "sr-Latn-RS", "es-419", "sl-rozaj-biske-1994", "de-CH-1996",
        "en-US-u-ca-gregory", "de-DE-u-co-phonebk-t-en", "x-office", "en-x-office-floor2",
        "zh-yue", "EN-us", "gsw",
    ],
    values.email: [
        "ada@example.com", "ada.lovelace+phone@mail.example.co.uk", "ada@localhost",
        "\u00e4da@ex\u00e4mple.com", "o'brien@example.com",
    ],
    values.url: [
        "http://pbx/menu.xml", "https://pbx.example.com:8443/a?b=c#d", "HTTP://10.0.0.1/",
        "http://[2001:db8::1]:80/x", "http://user:pass@pbx/", "https://b\u00fccher.example/",
    ],
    values.extension_number: ["1001", "*98", "#31#", "+41", "line-1_a.b", "x" * 255],
    uuid: ["00000000-0000-4000-8000-00000000000a"],
}  # fmt: skip
REFUSED: dict[Rule, tuple[str, list[str]]] = {
    values.timezone: (
        "IANA",
        ["", "utc", "Europe/Nowhere", "europe/paris", "+02:00", "../etc/passwd", "localtime"],
    ),
    values.language: (
        "must",
        ["", "e", "en_US", "en-", "-en", "english language", "en--US", "de-CH-", "en-u", "x",
         "en-x", "d\u00e9", "en\n", "12", "en-a-", "toolongtag1"],
    ),
    values.email: (
        "must",
        ["", "ada", "@example.com", "ada@", "ada@@example.com", "a da@example.com",
         "ada@example..com", "ada@.example.com", "ada@example.com.", "Ada <ada@example.com>",
         "ada@example.com\n", "a@b@c.com", "ada,bob@example.com", "x" * 250 + "@a.com"],
    ),
    values.url: (
        "must",
        ["", "pbx/menu.xml", "//pbx/menu.xml", "ftp://pbx/", "javascript:alert(1)", "http:///x",
         "http://", "http://pbx:99999/", "http://pbx:port/", "http://pbx:0/", "http://[::1/",
         "http://a b/", "http://pbx/\n", "http://pbx/\t", "file:///etc/passwd", "http:pbx",
         "http://pbx/" + "x" * 2048],
    ),
    values.pin_code: (
        "4 to 32 digits",
        ["", "123", "1" * 33, "12a4", "12 4", "1234\n", "\u0661\u0662\u0663\u0664", "-123"],
    ),
    values.extension_number: ("must", ["", " ", "10 01", "10/01", "\u0661", "x" * 256, "1\n"]),
    uuid: (
        "must be a UUID",
        ["", "1", "0" * 32, "{00000000-0000-4000-8000-000000000001}",
         "urn:uuid:00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-00000000000g",
         "00000000-0000-4000-8000-000000000001 ", "0000000-00000-4000-8000-000000000001",
         "\uff100000000-0000-4000-8000-000000000001", "00000000_0000_4000_8000_000000000001"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in ACCEPTED.items() for text in texts]
)
def test_value_is_accepted_unchanged(rule: Rule, text: str) -> None:
    assert rule(text) == text


@pytest.mark.parametrize(
    ("rule", "words", "text"),
    [(rule, words, text) for rule, (words, texts) in REFUSED.items() for text in texts],
)
def test_invalid_value_is_refused(rule: Rule, words: str, text: str) -> None:
    with pytest.raises(ValueError, match=words):
        rule(text)


@given(st.uuids())
def test_uuid_is_lower_case_with_hyphens(known: object) -> None:
    assert uuid(str(known).upper()) == str(known)


@given(st.text())
def test_address_checks_any_text_raise_only_value_errors(text: str) -> None:
    for rule in (values.url, values.email, values.language, values.timezone, addresses.ip):
        for candidate in (text, f"http://{text}", f"a@{text}"):
            objection = refused(rule, candidate)
            assert objection is None or objection.startswith("must ")


# Numbers


@given(st.text("0123456789", min_size=4, max_size=32))
def test_pin_is_4_to_32_digits(pin: str) -> None:
    assert values.pin_code(pin) == pin


@given(st.integers())
@example(0)
@example(-1)
@example(2**31 - 1)
@example(2**31)
def test_level_is_between_0_and_the_largest(level: int) -> None:
    [rule] = [field.rule for field in fields_of(CreatePermission) if field.name == "level"]
    assert rule is not None

    if 0 <= level < 2**31:
        assert rule(level) == level
    else:
        with pytest.raises(ValueError, match="from 0 to 2147483647"):
            rule(level)


def test_each_element_of_a_list_is_checked() -> None:
    rule = each(values.required_text, most=3)

    assert rule(("a", "Zoe\u0308")) == ("a", "Zo\u00eb")
    assert rule(()) == ()
    with pytest.raises(ValueError, match="must not be empty"):
        rule(("a", ""))
    with pytest.raises(ValueError, match="at most 3"):
        rule(("a",) * 4)


def test_text_over_the_length_limit_is_refused_before_normalisation() -> None:
    alternating = "a" + "\u0301\u0323" * 500_000
    began = time.process_time()

    with pytest.raises(ValueError, match="at most 255"):
        values.text(alternating)
    with pytest.raises(ValueError, match="at most 2048"):
        values.description(alternating)

    assert time.process_time() - began < 0.5


def test_text_has_30_accents_on_one_character_at_most() -> None:
    assert len(values.text("x" + "\u0301" * 30)) == 31
    with pytest.raises(ValueError, match="more than 30 accents"):
        values.text("x" + "\u0301" * 31)
