"""LDIF as slapd, Active Directory and 389 Directory Server give it to ldapsearch."""

import base64
from pathlib import Path
from uuid import UUID

import pytest

from phoneprov_adapters.files.ldif import LdifTable, WholeCsv, WholeCsvText
from phoneprov_core.features.sync.model import SyncRefused
from phoneprov_core.features.sync.reading import People, people_of
from phoneprov_core.features.transfer.model import Row, RowProblem

GUID = UUID("3f2504e0-4f89-11d3-9a0c-0305e82c3301")

SLAPD = b"""\
# extended LDIF
#
# LDAPv3
# base <ou=people,dc=office,dc=example> with scope subtree
# filter: (&(objectClass=inetOrgPerson)
 (mail=*))
#

# ada, people, office.example
dn: uid=ada,ou=people,dc=office,dc=example
uid: ada
sn: Lovelace
givenName: Ada
givenName;lang-de: Adelheid
mail: ada@office.example
mail: lovelace@office.example
description: a line that ldapsearch folds after 76 characters, and goes on he
 re
telephoneNumber:: KzQ5IDMwIDE=
entryUUID: 8A6DF0AA-0FA1-103F-8F0D-3B1DC0A4B5A1

# search result
search: 2
result: 0 Success

# numResponses: 2
# numEntries: 1
"""

AD = (
    b"""\
dn:: Q049SsO8cmdlbiBXZWnDnyxEQz1vZmZpY2UsREM9ZXhhbXBsZQ==
sn:: V2Vpw58=
givenName:: SsO8cmdlbg==
sAMAccountName: jweiss
mail: jweiss@office.example
physicalDeliveryOfficeName: Berlin/3
userAccountControl: 66048
objectGUID:: """
    + base64.b64encode(GUID.bytes_le)
    + b"""

# refldap://ForestDnsZones.office.example/DC=ForestDnsZones,DC=office,DC=example

# refldap://office.example/CN=Configuration,DC=office,DC=example

"""
)

DS_389 = b"""\
version: 1

dn: uid=bob,ou=People,dc=office,dc=example
nsUniqueId: 1cd2a5e0-0fa111ef-8f0d3b1d-c0a4b5a1
uid: bob
givenName: Bob
sn: Byte
mail: bob@office.example
l: Hall
preferredLanguage: de-AT, en;q=0.7
nsAccountLock: TRUE
jpegPhoto:< file:///etc/hostname

"""


async def rows(text: bytes, folder: Path) -> list[Row | RowProblem]:
    file = folder / "people.ldif"
    file.write_bytes(text)
    return [row async for piece in LdifTable(file).pieces() for row in piece]


async def read(text: bytes, folder: Path, **mapped: str) -> People:
    file = folder / "people.ldif"
    file.write_bytes(text)
    return await people_of(LdifTable(file), mapped)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_output_of_slapd_is_read(tmp_path: Path, end: bytes) -> None:
    found = await read(SLAPD.replace(b"\n", end), tmp_path)

    (ada,) = found.people
    assert (found.total, found.problems, ada.line) == (1, [], 10)
    assert ada.key == "8a6df0aa-0fa1-103f-8f0d-3b1dc0a4b5a1"
    assert ada.values == {
        "username": "ada", "first_name": "Ada", "last_name": "Lovelace",
        "email": "ada@office.example", "phone": "+49 30 1", "is_active": True,
    }  # fmt: skip


async def test_output_of_active_directory_is_read(tmp_path: Path) -> None:
    found = await read(AD, tmp_path)

    (person,) = found.people
    assert (found.total, person.key) == (1, str(GUID))
    assert person.values == {
        "username": "jweiss", "first_name": "Jürgen", "last_name": "Weiß",
        "email": "jweiss@office.example", "location": "Berlin/3", "is_active": True,
    }  # fmt: skip


async def test_output_of_389_is_read_with_a_key_of_its_own(tmp_path: Path) -> None:
    found = await read(DS_389, tmp_path, key="nsUniqueId")

    (person,) = found.people
    assert person.key == "1cd2a5e0-0fa111ef-8f0d3b1d-c0a4b5a1"
    assert person.values["is_active"] is False
    assert (person.values["lang"], person.values["location"]) == ("de-AT", "Hall")


@pytest.mark.parametrize("value", [b": exactly sixteen", b"16 bytes of text"])
async def test_guid_that_is_text_is_read_as_bytes(tmp_path: Path, value: bytes) -> None:
    """ldapsearch writes 16 bytes that happen to be text without base64."""
    raw = value.removeprefix(b": ")[:16].ljust(16, b"x")
    found = await rows(b"dn: cn=x\nobjectGUID: " + raw + b"\n\n", tmp_path)
    encoded = await rows(b"dn: cn=x\nobjectGUID:: " + base64.b64encode(raw) + b"\n\n", tmp_path)

    assert found == encoded
    assert isinstance(found[0], Row)
    assert found[0].cells["objectguid"] == str(UUID(bytes_le=raw))


@pytest.mark.parametrize(
    "text",
    [
        AD[: AD.index(b"mail:") + 9],
        AD[: AD.index(b"mail:")],
        AD[: AD.index(b"\n\n# refldap") + 1],
        SLAPD.replace(b"# numEntries: 1", b"# numEntries: 2"),
        SLAPD.replace(b"result: 0 Success", b"result: 4 Size limit exceeded"),
        SLAPD.replace(b"result: 0 Success", b"# result: 4 Size limit exceeded"),
    ],
    ids=["in a line", "after a line", "without empty line", "entries lack", "result", "comment"],
)
async def test_input_that_is_not_complete_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(SyncRefused):
        await rows(text, tmp_path)


async def test_every_cut_of_an_entry_is_noticed(tmp_path: Path) -> None:
    entry = AD[: AD.index(b"# refldap")]
    for size in range(1, len(entry)):
        with pytest.raises(SyncRefused):
            await rows(entry[:size], tmp_path)
    assert len(await rows(entry, tmp_path)) == 1


async def test_record_that_is_no_entry_is_a_problem(tmp_path: Path) -> None:
    found = await rows(b"no attribute\n\nsn: Lovelace\n\nsn:: *\ndn: cn=x\n\n", tmp_path)

    assert [one.line for one in found if isinstance(one, RowProblem)] == [1, 3, 5]


async def test_text_that_is_not_utf_8_is_a_problem_of_its_field(tmp_path: Path) -> None:
    found = await read(
        b"dn: cn=x\nentryUUID: 1\nuid: x\nsn:: /w==\ngivenName: x\nmail: x@office.example\n\n",
        tmp_path,
    )

    assert [(one.field, one.message) for one in found.problems] == [
        ("last_name", "is not in UTF-8")
    ]


async def test_table_that_was_cut_is_refused(tmp_path: Path) -> None:
    text = "key,username\n1,ada\n2,bo"
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "people.csv").write_bytes(text.encode(encoding))
        with pytest.raises(SyncRefused):
            await anext(WholeCsv(tmp_path / "people.csv").pieces())
        (tmp_path / "people.csv").write_bytes(f"{text}\n".encode(encoding))
        assert len(await anext(WholeCsv(tmp_path / "people.csv").pieces())) == 2
    with pytest.raises(SyncRefused):
        await anext(WholeCsvText(text).pieces())
    assert len(await anext(WholeCsvText(f"{text}\n").pieces())) == 2
