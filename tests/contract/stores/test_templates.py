"""The contract of ``TemplateStore``, beyond that of ``Store``."""

import asyncio

import pytest
from msgspec.structs import replace

from phoneprov_core.kernel.errors import AlreadyExists, Conflict, NotFound
from support.phone_records import (
    a_deployment,
    a_profile,
    a_revision,
    a_template,
    a_template_text,
)
from support.records import a_mac, a_user
from support.store_tests import DatabaseTests


class TestTemplates(DatabaseTests):
    """Names, variants and the profiles with them."""

    async def test_name_model_and_family_are_unique_together(self) -> None:
        first = a_template(1, name="a", model=None, software_type=None)
        others = [
            a_template(2, name="b", model=None, software_type=None),
            a_template(3, name="a", model="7945", software_type=None),
            a_template(4, name="a", model=None, software_type="SIP"),
            a_template(5, name="A", model=None, software_type=None),
        ]
        await self.add(first, *others)

        with pytest.raises(Conflict) as conflict:
            await self.add(a_template(6, name="a", model=None, software_type=None))
        assert conflict.value.code == "already_exists"
        with pytest.raises(Conflict):
            await self.write(
                lambda tx: tx.templates.put(
                    a_template(4, name="a", model="7945", software_type=None)
                )
            )

    async def test_variant_that_exists_is_refused_before_the_transaction_ends(self) -> None:
        """The use case names the template."""
        await self.add(a_template(1, name="a"), a_template(2, name="b"))

        for other, store in ((3, "add"), (2, "put")):
            async with self.rolled_back() as tx:
                with pytest.raises(AlreadyExists):
                    await getattr(tx.templates, store)(a_template(other, name="a"))

    async def test_variants_are_those_of_the_exact_name_oldest_first(self) -> None:
        two = a_template(2, name="a", model=None)
        one = a_template(1, name="a", model="7965")
        await self.add(two, one, a_template(3, name="A"), a_template(4, name="ab"))

        async with self.database.read() as tx:
            assert await tx.templates.variants("a") == [one, two]
            assert await tx.templates.rows(10, owner="a") == [one, two]
            assert await tx.templates.count("a") == 2
            assert await tx.templates.variants("") == []

    async def test_variants_are_locked_in_a_writing_transaction(self) -> None:
        variants = [a_template(1, name="a", model="7965"), a_template(2, name="a", model="7945")]
        await self.add(*variants)

        async def remove_unless_last(uuid: str) -> bool:
            async with self.database.write() as tx:
                if len(await tx.templates.variants("a")) == 1:
                    return False
                await asyncio.sleep(0.02)
                return await tx.templates.remove(uuid)

        removed = await asyncio.gather(*(remove_unless_last(one.uuid) for one in variants))

        assert sorted(removed) == [False, True]

    async def test_profiles_are_counted_by_their_newest_revision(self) -> None:
        one, two, three = (a_profile(number) for number in (1, 2, 3))
        async with self.database.write() as tx:
            await tx.users.add(a_user(900))
            for profile in (one, two, three):
                await tx.profiles.add(profile)
            await tx.revisions.add(a_revision(1, one, template="a"), "{}")
            await tx.revisions.add(a_revision(2, two, template="a"), "{}")
            await tx.revisions.add(a_revision(3, two, number=2), "<a/>")
            await tx.revisions.add(a_revision(4, three), "<a/>")
            await tx.revisions.add(a_revision(5, three, number=2, template="a"), "{}")

        async with self.database.read() as tx:
            assert await tx.templates.profiles_with("a") == 2
            assert await tx.templates.profiles_with("b") == 0

    async def test_phones_rendered_from_a_template_are_found_without_its_variant(self) -> None:
        """By phone: of another template, of this variant, of a deleted one, of a renamed one, with
        a text of its own, and no longer. The profiles were deleted."""
        variants = [a_template(1, name="a"), a_template(2, name="b"), a_template(3, name="c")]
        deployed = [(2, "b"), (1, "a"), (9, "a"), (3, "a"), (None, None), (1, "a")]
        async with self.database.write() as tx:
            for variant in variants:
                await tx.templates.add(variant)
            for number, (template, name) in enumerate(deployed, 1):
                uuid = None if template is None else a_template(template).uuid
                deployment = a_deployment(
                    number, a_mac(number), template_uuid=uuid, template_name=name, place="x"
                )
                await tx.deployments.add(deployment)
            await tx.deployments.add(a_deployment(7, a_mac(6), place="x"))

        async with self.database.read() as tx:
            found = {name: await tx.deployments.rendered_from(name) for name in ("a", "c", "d")}

        assert found == {"a": {a_mac(2), a_mac(3), a_mac(4)}, "c": {a_mac(4)}, "d": set()}

    async def test_texts_of_a_variant_are_listed_without_the_text_and_read_with_it(self) -> None:
        one, other = a_template(1), a_template(2)
        texts = [
            a_template_text(3, one, number=2, body="<b>\u00e9\r\n</b>"),
            a_template_text(4, one),
            a_template_text(5, other),
        ]
        await self.add(one, other)
        async with self.database.write() as tx:
            for text in texts:
                await tx.template_texts.add(text)

        async with self.database.read() as tx:
            listed = await tx.template_texts.rows(9, owner=one.uuid)
            assert listed == [replace(texts[1], body=None), replace(texts[0], body=None)]
            assert await tx.template_texts.rows(9, owner=one.uuid, after=listed[0]) == listed[1:]
            assert await tx.template_texts.count(one.uuid) == 2
            for text in texts:
                found = await tx.template_texts.find_text(text.template_uuid, text.number)
                assert found == text
            for number in (0, 3, 2**40):
                assert await tx.template_texts.find_text(one.uuid, number) is None

    async def test_texts_are_removed_up_to_a_number_and_with_their_variant(self) -> None:
        one, other = a_template(1), a_template(2)
        await self.add(one, other)
        async with self.database.write() as tx:
            for number in range(1, 5):
                await tx.template_texts.add(a_template_text(10 + number, one, number=number))
            await tx.template_texts.add(a_template_text(20, other))
            await tx.template_texts.remove_until(one.uuid, 2)
            await tx.template_texts.remove_until(other.uuid, -9)

        async with self.database.read() as tx:
            rows = await tx.template_texts.rows(9, owner=one.uuid)
        assert [text.number for text in rows] == [3, 4]
        await self.write(lambda tx: tx.templates.remove(one.uuid))
        async with self.database.read() as tx:
            assert await tx.template_texts.count() == 1
            assert await tx.template_texts.count(other.uuid) == 1

    async def test_text_of_a_number_that_exists_or_without_variant_is_refused(self) -> None:
        one = a_template(1)
        await self.add(one)
        await self.write(lambda tx: tx.template_texts.add(a_template_text(3, one)))

        async with self.rolled_back() as tx:
            with pytest.raises(Conflict) as conflict:
                await tx.template_texts.add(a_template_text(4, one))
            assert conflict.value.code == "already_exists"
        async with self.rolled_back() as tx:
            with pytest.raises(NotFound):
                await tx.template_texts.add(a_template_text(5, a_template(2)))
