"""Whose lines a phone has, and what the exchange gets."""

import msgspec
import pytest

from phoneprov_core.features.desks.records import DeskRecord, DeskUse, Due
from phoneprov_core.features.lines.model import (
    Number,
    PhoneNumbers,
    UsedPhone,
    device_options,
    device_type,
    holder_of,
    line_of,
    line_options,
    numbers_of,
    prompts_for,
)
from support.phone_records import a_phone

ADA, BOB, LOBBY = "ada", "bob", "lobby"
PHONE = a_phone(1, name="Desk 4", location="Berlin", model="CP-7945G")
NOW, LATER = "2030-01-01T08:00:00.000Z", "2030-01-01T16:00:00.000Z"
FREE = DeskRecord(PHONE.mac)
ADAS = FREE.used(DeskUse(ADA, "p", LATER), NOW)
OWN = Number("900", "Reception", False)
NUMBERS = tuple((user, Number(text, user, False)) for user, text in
                ((ADA, "101"), (BOB, "102"), (ADA, "103"), (LOBBY, "104")))  # fmt: skip


def used(desk: DeskRecord, owner: str | None = None, own: Number | None = None) -> UsedPhone:
    return UsedPhone(PHONE, desk, owner, NOW if owner else None, own)


@pytest.mark.parametrize(
    ("phone", "at", "holder"),
    [
        (used(FREE), NOW, None),
        (used(FREE, LOBBY), NOW, LOBBY),
        (used(ADAS, ADA), NOW, ADA),
        (used(ADAS, LOBBY), NOW, ADA),  # the file is in place, the record of its place is not yet
        (used(ADAS, LOBBY, OWN), NOW, ADA),
        (used(FREE, LOBBY, OWN), NOW, None),
        # The login is over, and its end not yet recorded.
        (used(ADAS, ADA), LATER, None),
        (used(ADAS, ADA, OWN), LATER, None),
        # Ended, while the phone still has ada's profile.
        (used(ADAS.ended(Due.LOGOUT), ADA), NOW, None),
        (used(ADAS.ended(Due.EXPIRY).changing("c"), ADA), NOW, None),
        (used(ADAS.left(not_before=0), ADA), NOW, None),
        (used(ADAS.left(not_before=0).settled(), ADA), NOW, None),
        (used(ADAS.ended(Due.LOGOUT).left(not_before=0), ADA), NOW, None),
        (used(ADAS.left(not_before=0).left(not_before=0), ADA), NOW, None),
        # The default profile is back.
        (used(ADAS.ended(Due.LOGOUT).used(DeskUse(), NOW), LOBBY), NOW, LOBBY),
        (used(ADAS.ended(Due.LOGOUT).used(DeskUse(), NOW), ADA), NOW, ADA),
        (used(ADAS.left(not_before=0).used(DeskUse(BOB), NOW), ADA), NOW, BOB),
    ],
)
def test_holder_is_the_user_at_the_desk_else_the_owner_of_the_profile(
    phone: UsedPhone, at: str, holder: str | None
) -> None:
    assert holder_of(phone, at) == holder


def test_deployment_of_an_earlier_phone_of_the_mac_does_not_count() -> None:
    before = msgspec.structs.replace(used(FREE, LOBBY), deployed_at="2020-01-01T00:00:00.000Z")
    assert holder_of(before, NOW) is None


@pytest.mark.parametrize(
    ("phone", "numbers"),
    [
        (used(ADAS, LOBBY), ["101", "103"]),
        (used(FREE, LOBBY), ["104"]),
        (used(FREE, "carla"), []),
        (used(FREE, LOBBY, OWN), ["900"]),
        (used(FREE, None, OWN), ["900"]),
        (used(FREE), []),
        (msgspec.structs.replace(used(ADAS, ADA), phone=a_phone(1, is_active=False)), []),
    ],
)
def test_numbers_are_those_of_the_holder_or_of_the_desk(
    phone: UsedPhone, numbers: list[str]
) -> None:
    found = numbers_of(PhoneNumbers(phone, NUMBERS), NOW)
    assert [one.number for one in found] == numbers


def test_device_has_a_button_for_each_line_and_leaves_out_what_is_not_known() -> None:
    name = f"SEP{PHONE.mac.replace(':', '')}"
    assert device_options(PhoneNumbers(used(ADAS), NUMBERS), NOW) == [
        ("name", name), ("type", "device"), ("devicetype", "7945"), ("description", "Desk 4"),
        ("button", "line,101"), ("button", "line,103"),
    ]  # fmt: skip
    somewhere = UsedPhone(a_phone(1, name=None, model=None, location="Berlin"), FREE)
    assert device_options(PhoneNumbers(somewhere), NOW)[2:] == [("description", "Berlin")]
    unknown = UsedPhone(a_phone(1, name=None, model="&=", location=None), FREE)
    assert device_options(PhoneNumbers(unknown), NOW) == [("name", name), ("type", "device")]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("CP-7945G", "7945"),
        ("Cisco 8861", "8861"),
        ("ATA 186", None),
        ("x" * 16, None),
        (None, None),
    ],
)
def test_device_type_is_the_bare_model(model: str | None, kind: str | None) -> None:
    assert device_type(model) == kind


@pytest.mark.parametrize(
    ("langs", "sounds", "language"),
    [
        (["de"], ["en", "de"], "de"),
        (["de-CH"], ["en", "de"], "de"),
        (["fr-CA"], ["fr", "fr_CA"], "fr_CA"),
        (["fr-ca"], ["fr", "fr_CA"], "fr_CA"),
        (["fr"], ["fr_CA"], None),
        (["pt"], ["en", "de"], None),
        (["de"], [], None),
        ([], ["en"], None),
        (["de", "fr"], ["de", "fr"], None),
        (["de", "pt"], ["de"], None),
        (["de-CH", "de-AT"], ["de"], "de"),
        (["de"], ["DE"], "DE"),
    ],
)
def test_prompts_are_in_the_language_that_all_users_of_a_line_have(
    langs: list[str], sounds: list[str], language: str | None
) -> None:
    assert prompts_for(langs, sounds) == language


def test_line_has_a_mailbox_with_voicemail_only() -> None:
    line = [("name", "101"), ("type", "line"), ("label", "Ada"), ("cid_name", "Ada"),
            ("cid_num", "101"), ("context", "office")]  # fmt: skip
    assert line_options(line_of(Number("101", "Ada", False), "office")) == line
    with_box = [*line, ("mailbox", "101@default")]
    assert line_options(line_of(Number("101", "Ada", True), "office")) == with_box
