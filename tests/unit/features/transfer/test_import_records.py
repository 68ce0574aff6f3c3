"""Import matches rows with records that exist."""

from phoneprov_adapters.api import InMemory, open_in_memory, read_settings
from phoneprov_core.api import (
    RowProblem,
)
from support.table import ADA, BOB, MAC, ListTable, everything, into, users


async def test_import_contact_without_uuid_matches_by_content(phoneprov: InMemory) -> None:
    table = ListTable("name,work", ("Ada", "1"), ("Ada", "2"), ("Ada", "1"))

    first = await into(phoneprov, "company-directory", table)
    again = await into(phoneprov, "company-directory", table)

    assert (first.created, first.unchanged) == (2, 1)
    assert (again.created, again.unchanged) == (0, 3)


async def test_import_contact_without_uuid_writes_is_active(phoneprov: InMemory) -> None:
    table = ListTable("name,is_active", ("Ada", "no"), ("Bob", ""))
    await into(phoneprov, "company-directory", table)
    active = {r["name"]: r["is_active"] for r in await everything(phoneprov, "company-directory")}
    assert active == {"Ada": False, "Bob": True}

    kept = await into(phoneprov, "company-directory", ListTable("name", ("Ada",), ("Bob",)))
    done = await into(phoneprov, "company-directory", ListTable("name,is_active", ("Bob", "no")))

    assert (kept.unchanged, done.updated, done.created) == (2, 1, 0)
    rows = await everything(phoneprov, "company-directory")
    assert [row["is_active"] for row in rows] == [False, False]


async def test_import_personal_contacts_over_the_maximum_are_refused() -> None:
    settings = read_settings({"PHONEPROV_MOST_CONTACTS": "1"})
    async with open_in_memory(settings) as phoneprov:
        await into(phoneprov, "users", users(ADA))
        table = ListTable("username,name", ("ada", "Mum"), ("ada", "Dad"))

        done = await into(phoneprov, "personal-directory", table)

        [problem] = done.problems
        assert problem.line == 3
        assert problem.message.endswith(
            "the maximum; delete one, or raise PHONEPROV_MOST_CONTACTS."
        )
        assert await everything(phoneprov, "personal-directory") == []


async def test_import_contact_with_uuid_is_updated(phoneprov: InMemory) -> None:
    await into(phoneprov, "company-directory", ListTable("name,work", ("Ada", "1")))
    [row] = await everything(phoneprov, "company-directory")

    table = ListTable("uuid,name,work", (row["uuid"].upper(), "Ada", "2"))
    done = await into(phoneprov, "company-directory", table)

    assert (done.created, done.updated) == (0, 1)
    assert [r["work"] for r in await everything(phoneprov, "company-directory")] == ["2"]


async def test_import_contact_unknown_uuid_creates_and_invalid_uuid_is_refused(
    phoneprov: InMemory,
) -> None:
    elsewhere = "12345678-1234-1234-1234-123456789abc"
    table = ListTable("uuid,name", (elsewhere, "Ada"), ("nonsense", "Bob"))

    done = await into(phoneprov, "company-directory", table, keep_going=True)

    assert (done.created, done.problems) == (
        1,
        (RowProblem(3, "uuid", "must be a UUID, or empty"),),
    )


async def test_import_personal_contacts_name_their_owner(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA, BOB))
    table = ListTable(
        "username,name,work", ("ADA", "Mum", "1"), ("bob", "Mum", "1"), ("eve", "Mum", "1")
    )

    done = await into(phoneprov, "personal-directory", table, keep_going=True)

    assert done.problems == (RowProblem(4, "username", "is the name of no user"),)
    rows = await everything(phoneprov, "personal-directory")
    assert [(row["username"], row["name"]) for row in rows] == [("ada", "Mum"), ("bob", "Mum")]


async def test_import_contact_owner_cannot_be_changed(phoneprov: InMemory) -> None:
    await into(phoneprov, "users", users(ADA, BOB))
    await into(phoneprov, "personal-directory", ListTable("username,name", ("ada", "Mum")))
    [row] = await everything(phoneprov, "personal-directory")

    table = ListTable("uuid,username,name", (row["uuid"], "bob", "Mum"))
    done = await into(phoneprov, "personal-directory", table)

    assert [(p.line, p.field) for p in done.problems] == [(2, "username")]


async def test_import_kems_match_by_uuid_then_mac_then_content(phoneprov: InMemory) -> None:
    table = ListTable("mac,model", (MAC, "CP-7916"), ("", "CP-7915"))
    await into(phoneprov, "kems", table)

    done = await into(
        phoneprov, "kems", ListTable("mac,model", (MAC.lower(), "CP-7914"), ("", "CP-7915"))
    )

    assert (done.created, done.updated, done.unchanged) == (0, 1, 1)


async def test_import_of_profiles_obeys_the_maximum_of_the_settings() -> None:
    settings = read_settings({"PHONEPROV_MOST_PROFILES": "1"})
    rows = [("ada", name, "<device/>") for name in ("Hall", "Lab")]
    async with open_in_memory(settings) as phoneprov:
        await into(phoneprov, "users", users(ADA))

        table = ListTable("username,name,cnf_xml", *rows)
        done = await into(phoneprov, "profiles", table, keep_going=True)

    assert (done.created, [problem.line for problem in done.problems]) == (1, [3])
