"""Lists of phones as they are pasted: each line is a phone or a problem with its number."""

import pytest
from msgspec.structs import replace

from phoneprov_core.features.batches.lists import PhoneList, ReadPhoneList, ReadPhones
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.errors import Forbidden, Invalid
from phoneprov_core.switching.devices.names import mac_in_table
from support.floor import Floor
from support.records import a_mac

EXCEL = (
    'sep=;\nRemark;Profile;MAC\n;"The floor";SEP001BD4000001\n;{uuid};001bd4000002\n;;\n'
    "x;The floor;001bd4000003\n"
)


@pytest.fixture
async def floor() -> Floor:
    return await Floor.of(phones=6)


async def read(floor: Floor, text: str) -> PhoneList:
    return await ReadPhoneList(floor.database)(floor.root, ReadPhones(text=text))


def phones(found: PhoneList) -> list[tuple[int, str, str | None]]:
    return [(one.line, one.mac, one.profile_uuid) for one in found.phones]


def problems(found: PhoneList) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in found.problems]


@pytest.mark.parametrize(
    "text",
    [
        "001bd4000001\n\n  SEP001BD4000002  \r\n00:1b:d4:00:00:03",
        "\ufeff001bd4000001\n\n001bd4000002\n001bd4000003\n001bd4000001\n",
        "001bd4000001 001bd4000002\t001bd4000003",
        "mac\n001bd4000001, 001bd4000002; \n001bd4000003",
        "001bd4000001, 001bd4000002,001bd4000003,",
    ],
)
async def test_macs_alone_are_phones_without_a_profile(floor: Floor, text: str) -> None:
    found = await read(floor, text)

    assert [(one.mac, one.profile_uuid) for one in found.phones] == [
        (a_mac(number), None) for number in (1, 2, 3)
    ]
    assert found.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "001bd4000001,The floor\n001bd4000002,{uuid}\n001bd4000003,ada",
        EXCEL,
        "MAC\tUsername\n001bd4000001\tAda\n001bd4000002\tada\n\t\n001bd4000003\tADA",
        '001bd4000001;The floor\r001bd4000002,"The floor"\r001bd4000003\tThe floor',
    ],
)
async def test_second_column_is_a_profile_or_a_username(floor: Floor, text: str) -> None:
    found = await read(floor, text.replace("{uuid}", floor.profile.uuid))

    assert [(one.mac, one.profile_uuid) for one in found.phones] == [
        (a_mac(number), floor.profile.uuid) for number in (1, 2, 3)
    ]
    assert found.problems == ()


async def test_each_bad_line_is_named_and_no_other_is_lost(floor: Floor) -> None:
    await floor.profile_of(floor.bob, "<b/>", "Bobs")
    lines = [
        "001bd4000001,The floor",
        "Desk 1,The floor",
        "",
        "001bd4000099,The floor",
        "001bd4000002",
        "001bd4000003,Nothing",
        "001bd4000001,Bobs",
        '001bd4000004,"The floor',
        ",The floor",
        "001bd4000005,bob",
        "001bd4000001,The floor",
    ]

    found = await read(floor, "\n".join(lines))

    bobs = next(one for one in found.phones if one.mac == a_mac(5)).profile_uuid
    assert phones(found) == [(1, a_mac(1), floor.profile.uuid), (10, a_mac(5), bobs)]
    assert problems(found) == [
        (2, "Desk 1 is not the MAC address of a phone."),
        (4, "There is no phone 00:1B:D4:00:00:99 in the inventory."),
        (5, f"{a_mac(2)} has no profile; other lines have one."),
        (6, "There is no profile and no account Nothing."),
        (7, f"{a_mac(1)} has another profile in line 1."),
        (8, "A quotation mark is not closed, or is amid a cell."),
        (9, "An empty cell is not the MAC address of a phone."),
    ]


async def test_username_means_the_only_profile_that_fits_the_phone(floor: Floor) -> None:
    sip = await floor.profiles.create(
        floor.root,
        CreateProfile(
            user_uuid=floor.ada.user_uuid, name="SIP", cnf_xml="<s/>", software_type="SIP",
            compatible_models=("8841",),
        ),
    )  # fmt: skip
    await floor.phones.update(floor.root, a_mac(2), PhonePatch(model="CP-8841"))
    await floor.phones.update(floor.root, a_mac(2), PhonePatch(software_type="SIP"))
    await floor.profile_of(floor.bob, "<b/>", "ada")

    found = await read(floor, f"mac,username\n{a_mac(1)},ada\n{a_mac(2)},ada\n{a_mac(3)},carol")
    either = await read(floor, f"{a_mac(1)},ada")
    by_name = await read(floor, f"mac,profile\n{a_mac(1)},carol")

    assert phones(found) == [(2, a_mac(1), floor.profile.uuid)]
    some = f"The floor ({floor.profile.uuid}), SIP ({sip.uuid})"
    assert problems(found) == [
        (3, f"ada is the name of 2 profiles: {some}. Use a UUID."),
        (4, "There is no account carol."),
    ]
    assert "ada is the name of 2 profiles: ada (" in either.problems[0].message
    assert problems(by_name) == [(2, "There is no profile carol.")]


async def test_username_without_a_fitting_profile_is_named(floor: Floor) -> None:
    patch = {"compatible_models": ("8841",)}
    await floor.change_profile(**patch)

    found = await read(floor, f"{a_mac(1)},ada\n{a_mac(2)},bob")

    assert problems(found) == [
        (1, f"ada has no profile that fits {a_mac(1)}."),
        (2, f"bob has no profile that fits {a_mac(2)}."),
    ]


async def test_list_is_for_level_0_and_of_bounded_length(floor: Floor) -> None:
    with pytest.raises(Invalid, match="at most 5000 lines"):
        await read(floor, "x\n" * 5001)
    assert await read(floor, " \n") == PhoneList((), ())
    with pytest.raises(Forbidden):
        await ReadPhoneList(floor.database)(replace(floor.ada), ReadPhones(text="x"))


async def test_list_of_too_many_lines_is_not_read_to_its_end(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines_read = 0

    def counted(cell: str) -> str:
        nonlocal lines_read
        lines_read += 1
        return mac_in_table(cell)

    monkeypatch.setattr("phoneprov_core.features.batches.lists.mac_in_table", counted)
    with pytest.raises(Invalid, match="at most 5000 lines"):
        await read(floor, "a\n" * 100_000)

    assert lines_read <= 5001
