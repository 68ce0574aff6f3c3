"""The contracts of contacts, and of finding the user of an extension."""

from phoneprov_core.people.directory.model import searched
from support.records import (
    a_company_contact,
    a_link,
    a_personal_contact,
    a_user,
    an_extension,
    identifier,
)
from support.store_tests import DatabaseTests, existing


class TestDirectory(DatabaseTests):
    """The contract of ``CompanyContactStore.search`` and of ``UserStore.by_extension``."""

    async def test_contacts_are_removed_with_their_user_and_company_contacts_stay(self) -> None:
        ada, bob = (a_personal_contact(10 + n, identifier(n)) for n in (1, 2))
        await self.add(a_user(1), a_user(2), ada, bob, a_company_contact(1))

        assert await self.write(lambda tx: tx.users.remove(identifier(1)))

        async with self.database.read() as tx:
            assert await tx.personal_contacts.rows(10) == [bob]
            assert await tx.company_contacts.rows(10) == [a_company_contact(1)]

    async def found(self, name: str = "", number: str = "", after: str | None = None) -> list[str]:
        """The names that a search finds."""
        search = existing(searched(name, number))
        async with self.database.read() as tx:
            return [one.name for one in await tx.company_contacts.search(search, 10, after=after)]

    async def test_contacts_are_found_by_words_and_digits(self) -> None:
        people = [
            ("Ada Lovelace", "+44 20 7946 0018", True),
            ("Élodie O'Brien-Łoś", "1001", True),
            ("Ada Adams", None, True),
            ("Ada Gone", "1001", False),
        ]
        async with self.database.write() as tx:
            for place, (name, work, is_active) in enumerate(people, 1):
                contact = a_company_contact(
                    place, name=name, work=work, mobile=None, home=None, is_active=is_active
                )
                await tx.company_contacts.add(contact)

        everyone = ["Ada Adams", "Ada Lovelace", "Élodie O'Brien-Łoś"]
        assert await self.found() == everyone
        assert await self.found(after=identifier(3)) == everyone[1:]
        assert await self.found(after=identifier(99)) == []
        # A contact with two words that match is found once.
        assert await self.found("ad") == ["Ada Adams", "Ada Lovelace"]
        assert await self.found("ADA love") == ["Ada Lovelace"]
        assert await self.found("elo") == ["Élodie O'Brien-Łoś"]
        assert await self.found("los") == ["Élodie O'Brien-Łoś"]
        assert await self.found("lovelace brien") == []
        # Two words, in either order, by their beginnings; long ones are compared whole.
        assert await self.found("l a") == ["Ada Lovelace"]
        assert await self.found("a l") == ["Ada Lovelace"]
        assert await self.found("brien elodie") == ["Élodie O'Brien-Łoś"]
        assert await self.found("brienne elodie") == []
        assert await self.found("o b elod") == ["Élodie O'Brien-Łoś"]
        assert await self.found("ad ada") == ["Ada Adams", "Ada Lovelace"]
        assert await self.found("ada love", "7946") == ["Ada Lovelace"]
        assert await self.found("ada love", "79") == ["Ada Lovelace"]
        assert await self.found("ada love", "1001") == []
        assert await self.found(number="7946") == ["Ada Lovelace"]
        assert await self.found(number="10-01") == ["Élodie O'Brien-Łoś"]
        assert await self.found("ada", "001") == ["Ada Lovelace"]

    async def test_contacts_are_found_by_each_spelling_of_a_name(self) -> None:
        names = ["Anna M\u00fcller", "Anna Mueller", "Anna Muster", "J\u00f8rgen \u00c5s", "Manuel"]
        async with self.database.write() as tx:
            for place, name in enumerate(names, 1):
                await tx.company_contacts.add(a_company_contact(place, name=name))

        both = names[:2]
        for typed in (
            "mueller",
            "m\u00fcller",
            "anna mueller",
            "MUELLER AN",
            "m\u00fcll anna",
            "muell",
        ):
            assert sorted(await self.found(typed)) == sorted(both), typed
        assert sorted(await self.found("anna mu")) == sorted(names[:3])
        assert await self.found("anna must") == ["Anna Muster"]
        assert sorted(await self.found("anna mue")) == sorted(both)
        assert await self.found("mue muster") == []
        assert await self.found("mueller muster") == []
        assert await self.found("joergen aas") == ["J\u00f8rgen \u00c5s"]
        assert await self.found("manuel") == await self.found("manu") == ["Manuel"]

    async def test_contact_is_found_by_digits_of_another_script(self) -> None:
        contact = a_company_contact(1, name="Ada", work="\u0660\u0663\u0660 \u0661", mobile=None)
        async with self.database.write() as tx:
            await tx.company_contacts.add(contact)

        assert await self.found("", "0301") == await self.found("", "\u0663\u0660\u0661") == ["Ada"]

    async def test_contacts_that_match_are_found_by_name_page_by_page(self) -> None:
        async with self.database.write() as tx:
            for place, name in enumerate(["Zoe Ado", "ada zwei", "Bob Adam", "Äda Eins"], 1):
                number = f"10{place}"
                await tx.company_contacts.add(
                    a_company_contact(place, name=name, work=number, mobile=number, home=None)
                )

        in_order = ["Äda Eins", "ada zwei", "Bob Adam", "Zoe Ado"]
        for search in ({"name": "ad"}, {"number": "10"}, {"name": "a", "number": "1"}, {}):
            assert await self.found(**search) == in_order
            assert await self.found(**search, after=identifier(3)) == ["Zoe Ado"]

    async def test_changed_and_removed_contacts_are_found_as_they_are(self) -> None:
        await self.add(a_company_contact(1, name="Ada"), a_company_contact(2, name="Adam"))
        async with self.database.write() as tx:
            await tx.company_contacts.put(a_company_contact(1, name="Bob"))
            await tx.company_contacts.remove(identifier(2))
        assert await self.found("ada") == []
        assert await self.found("bob") == ["Bob"]

    async def test_by_extension_finds_two_users_at_most_of_an_active_extension(self) -> None:
        async with self.database.write() as tx:
            for number in (1, 2):
                await tx.users.add(a_user(number))
            for number, active in ((11, True), (12, False), (13, True)):
                await tx.extensions.add(
                    an_extension(number, extension=f"10{number}", is_active=active)
                )
                await tx.links.add(a_link(number, identifier(1), identifier(number)))
            await tx.links.add(a_link(20, identifier(2), identifier(13)))
        async with self.database.read() as tx:
            assert await tx.users.by_extension("1011") == [a_user(1)]
            assert len(await tx.users.by_extension("1013")) == 2
            for other in ("1012", "1099", "", "\0"):
                assert await tx.users.by_extension(other) == []

    async def test_number_is_of_another_unless_the_user_is_linked_to_it(self) -> None:
        async with self.database.write() as tx:
            for number in (1, 2):
                await tx.users.add(a_user(number))
            await tx.extensions.add(an_extension(11, extension="1011"))
            await tx.extensions.add(an_extension(12, extension="1012", is_active=False))
            await tx.links.add(a_link(1, identifier(1), identifier(11)))
        async with self.database.read() as tx:
            assert not await tx.extensions.is_of_another("1011", identifier(1))
            assert await tx.extensions.is_of_another("1011", identifier(2))
            assert await tx.extensions.is_of_another("1012", identifier(1))
            assert not await tx.extensions.is_of_another("1099", identifier(1))
