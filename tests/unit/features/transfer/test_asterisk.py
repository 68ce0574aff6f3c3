"""Sections for Asterisk: no value adds a line, an option or a section."""

import re

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.api import open_in_memory
from phoneprov_core.api import (
    CreatePhone,
    CreateProfile,
    CreateUser,
    Invalid,
    NotFound,
    SwitchRequest,
    UserPatch,
)
from phoneprov_core.features.transfer.asterisk import Sections
from phoneprov_core.inventory.extensions import CreateExtension, Extension
from phoneprov_core.inventory.links import CreateLink
from support.phone_records import a_phone

WHEN = "2026-01-31T08:15:30.250Z"


def an_extension(**changes: object) -> Extension:
    fields: dict[str, object] = {
        "uuid": "00000000-0000-0000-0000-000000000001", "type": "chan_pjsip", "extension": "1001",
        "name": "Desk", "password": "hush", "description": None, "voicemail": False,
        "voicemail_passcode": None, "is_active": True, "created_at": WHEN, "created_by": None,
        "updated_at": WHEN, "updated_by": None, "created_ip": "::1", "updated_ip": "::1",
    }  # fmt: skip
    return Extension(**{**fields, **changes})  # type: ignore[arg-type]


def read(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Sections as Asterisk reads them (main/config.c), of a file without templates."""
    sections: list[tuple[str, list[tuple[str, str]]]] = []
    for line in text.split("\n"):
        bare = re.split(r"(?<!\\);", line, maxsplit=1)[0].replace("\\;", ";").strip()
        if not bare:
            continue
        assert not bare.startswith("#"), "a directive"
        if bare.startswith("["):
            sections.append((bare[1 : bare.index("]")], []))
        else:
            name, value = bare.split("=", 1)
            sections[-1][1].append((name.strip(), value.strip()))
    return sections


TEXT = st.text(max_size=60) | st.sampled_from(
    ["[general]", "; x", "a\\;b", "\\", "a;--b", "--;", "#exec rm", "=> x", "a\n[evil]\nx=y", '"<>']
)


@given(name=TEXT, password=TEXT)
def test_values_cannot_start_a_section_option_or_comment(name: str, password: str) -> None:
    try:
        CreateExtension(type="chan_pjsip", extension="1001", name=name, password=password)
        held = True
    except Invalid:
        held = False
    extension = an_extension(name=name, password=password, voicemail=True)

    endpoint = Sections(with_secrets=True).endpoint(extension)
    line = Sections().line(extension)

    if endpoint.left_out is None:
        shape = [(n, [o for o, _ in options]) for n, options in read(endpoint.text)]
        assert shape == [
            ("1001", ["type", "context", "disallow", "allow", "callerid", "auth", "aors",
                      "mailboxes"]),
            ("1001", ["type", "auth_type", "username", "password"]),
            ("1001", ["type", "max_contacts", "remove_existing"]),
        ]  # fmt: skip
        if held:
            assert read(endpoint.text)[1][1][3] == ("password", password)
    else:
        assert password != password.strip()
    [(number, options)] = read(line.text)
    assert (number, len(options)) == ("1001", 6)


def test_endpoint_without_password_has_no_auth_section() -> None:
    section = Sections().endpoint(an_extension())

    assert "hush" not in section.text
    assert "type = auth" not in section.text
    assert "auth = 1001" in section.text


def test_sections_have_the_language_of_the_prompts() -> None:
    for section in (
        Sections().line(an_extension(), "de"),
        Sections().endpoint(an_extension(), language="de"),
    ):
        assert read(section.text)[0][1][-1] == ("language", "de")


@pytest.mark.parametrize("number", ["general", "GLOBAL", "SEP001BD4123456", "softkeyset"])
def test_number_invalid_for_asterisk_is_omitted(number: str) -> None:
    section = Sections().line(an_extension(extension=number))

    assert section.text == ""
    assert section.left_out is not None
    assert number in section.left_out


def test_phone_endpoint_shares_aors_and_auth_of_its_extensions() -> None:
    sections = Sections()
    sections.endpoint(an_extension(extension="1001"))
    sections.endpoint(an_extension(extension="1002"))

    phone = a_phone(1, mac="00:1B:D4:12:34:56")
    section = sections.phone_endpoint(phone, ["1001", "1002", "9"])

    assert section is not None
    [(name, options)] = read(section.text)

    assert name == "SEP001BD4123456"
    assert ("auth", "1001") in options
    assert ("aors", "1001,1002") in options


def test_phone_without_exported_extension_has_no_endpoint() -> None:
    assert Sections().phone_endpoint(a_phone(1), ["1001"]) is None


def test_section_names_are_unique_ignoring_case() -> None:
    sections = Sections()

    assert sections.line(an_extension(extension="desk")).left_out is None
    assert sections.line(an_extension(extension="DESK")).left_out is not None


@pytest.mark.parametrize("context", ["", "a b", "a]\n[b", "x" * 80])
def test_context_must_be_a_name(context: str) -> None:
    with pytest.raises(ValueError, match="context"):
        Sections(context=context)


def test_section_password_is_in_no_representation() -> None:
    assert "hush" not in repr(Sections(with_secrets=True).endpoint(an_extension()))


async def test_devices_have_the_lines_of_their_users() -> None:
    async with open_in_memory() as phoneprov:
        actor = phoneprov.system_actor()
        user = await phoneprov.users.create(
            actor,
            CreateUser(
                first_name="Ada", last_name="L", username="ada", email="a@example.com",
                password="a long one for the tests",
            ),
        )  # fmt: skip
        for number, kind in (("1001", "chan_sccp"), ("1002", "chan_pjsip"), ("1003", "chan_sccp")):
            new = CreateExtension(type=kind, extension=number, name=f"Line {number}", password="pw")
            extension = await phoneprov.extensions.create(actor, new)
            if number != "1003":
                link = CreateLink(user_uuid=user.uuid, extension_uuid=extension.uuid)
                await phoneprov.links.create(actor, link)
        for mac, more in (
            ("00:1B:D4:12:34:56", {"model": "CP-7945G", "phone_ip": "10.0.0.1"}),
            ("00:1B:D4:12:34:57", {"model": "CP-7960", "software_type": "SIP"}),
            ("00:1B:D4:12:34:58", {}),
        ):
            await phoneprov.phones.create(actor, CreatePhone(mac=mac, **more))  # type: ignore[arg-type]
        profile = await phoneprov.profiles.create(
            actor, CreateProfile(user_uuid=user.uuid, name="Ada", cnf_xml="<device/>")
        )
        request = SwitchRequest(profile_uuid=profile.uuid, mac="00:1B:D4:12:34:56")
        await phoneprov.switch_profile(actor, request)

        sections = [s async for s in phoneprov.transfer.asterisk(actor, "chan_sccp")]

        names = [name for name, _ in read("".join(section.text for section in sections))]
        assert names == ["1001", "1003", "SEP001BD4123456"]
        device = read(sections[2].text)[0][1]
        assert device[:2] == [("type", "device"), ("devicetype", "7945")]
        assert [value for name, value in device if name == "button"] == ["line, 1001"]
        assert "model" in (sections[3].left_out or "")
        with pytest.raises(NotFound):
            [s async for s in phoneprov.transfer.asterisk(actor, "chan_sip")]


async def test_extension_of_users_who_left_is_left_out() -> None:
    async with open_in_memory() as phoneprov:
        actor = phoneprov.system_actor()
        new = CreateUser(
            first_name="Ada", last_name="L", username="ada", email="a@example.com",
            password="a long one for the tests",
        )  # fmt: skip
        user = await phoneprov.users.create(actor, new)
        for number in ("1001", "1002"):
            of = CreateExtension(type="chan_pjsip", extension=number, name="Line", password="pw")
            extension = await phoneprov.extensions.create(actor, of)
        link = CreateLink(user_uuid=user.uuid, extension_uuid=extension.uuid)
        await phoneprov.links.create(actor, link)
        await phoneprov.users.update(actor, user.uuid, UserPatch(is_active=False))

        held, left = [s async for s in phoneprov.transfer.asterisk(actor, "chan_pjsip")]

        assert ("1001", left.text) == (read(held.text)[0][0], "")
        assert left.left_out == "The extension 1002 was omitted: no user of it is active."
