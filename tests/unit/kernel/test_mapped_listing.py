"""A list whose entities are shown as something else."""

from __future__ import annotations

from phoneprov_core.kernel.store import Listing, Window


def in_pieces(pieces: list[list[int]]) -> Listing[int]:
    """The pieces one after the other; each is found by the last number of the one before."""
    following = {before[-1]: after for before, after in zip(pieces, pieces[1:], strict=False)}

    async def rest(last: int) -> list[int]:
        return following.get(last, [])

    return Listing(pieces[0], rest)


async def test_every_piece_is_shown_and_the_next_one_is_found_by_the_entity_itself() -> None:
    mapped = in_pieces([[1, 2], [3, 4], [5]]).mapped(lambda number: "x" * number)

    assert mapped.first == ["x", "xx"]
    assert not mapped.complete
    assert [piece async for piece in mapped] == [["x", "xx"], ["xxx", "xxxx"], ["xxxxx"]]
    # From the beginning again, like any list.
    assert len(await mapped.everything()) == 5


async def test_a_page_stays_a_page() -> None:
    page = Listing([1, 2], window=Window(limit=2, offset=3), total=9).mapped(str)

    assert page.complete
    assert page.window == Window(limit=2, offset=3)
    assert page.total == 9
    assert await page.everything() == page.first == ["1", "2"]


async def test_an_empty_list_stays_empty() -> None:
    nothing: list[int] = []

    assert await Listing(nothing).mapped(str).everything() == []
