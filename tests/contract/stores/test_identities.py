"""The contract of ``IdentityStore``, beside that of every store."""

import pytest

from phoneprov_core.kernel.errors import AlreadyExists
from support.kinds import OWNERS, an_identity
from support.store_tests import DatabaseTests

ADA, BOB = OWNERS
ISSUER = "https://login.example.com/realms/office"
ONE = an_identity(1, issuer=ISSUER, subject="person-1")


class TestIdentities(DatabaseTests):
    """Identities at providers."""

    async def arrange(self) -> None:
        await self.add(*OWNERS, ONE)

    @pytest.mark.parametrize(
        ("issuer", "subject", "found"),
        [
            (ISSUER, "person-1", ONE),
            (ISSUER, "PERSON-1", None),
            (ISSUER, "person-2", None),
            (ISSUER + "/", "person-1", None),
            ("https://other.example.com", "person-1", None),
        ],
    )
    async def test_person_is_found_by_exact_issuer_and_subject(
        self, issuer: str, subject: str, found: object
    ) -> None:
        assert await self.read(lambda tx: tx.identities.of(issuer, subject)) == found

    async def test_account_is_linked_to_the_issuers_that_it_has(self) -> None:
        async with self.database.read() as tx:
            linked = [
                await tx.identities.is_linked(user.uuid, issuer)
                for user in OWNERS
                for issuer in (ISSUER, "https://other.example.com")
            ]
        assert linked == [True, False, False, False]

    @pytest.mark.parametrize(
        "second",
        [
            an_identity(2, BOB.uuid, issuer=ISSUER, subject="person-1"),
            an_identity(2, ADA.uuid, issuer=ISSUER, subject="person-2"),
        ],
    )
    async def test_second_of_a_person_or_of_an_account_is_a_conflict(self, second: object) -> None:
        with pytest.raises(AlreadyExists):
            await self.add(second)

    async def test_identities_of_an_account_go_with_it_or_when_removed(self) -> None:
        other, bobs = an_identity(2, ADA.uuid), an_identity(3, BOB.uuid)
        await self.add(other, bobs)
        await self.write(lambda tx: tx.identities.remove_of("user_uuid", BOB.uuid))
        kept = await self.read(lambda tx: tx.identities.rows(9))
        await self.write(lambda tx: tx.users.remove(ADA.uuid))

        assert (kept, await self.read(lambda tx: tx.identities.rows(9))) == ([ONE, other], [])
