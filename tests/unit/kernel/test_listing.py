"""Long lists: complete, read in pieces, and their pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid
from phoneprov_core.kernel.ports import Listing, Rows, Window, listing


class Numbers(Rows[int]):
    """A store of the numbers from 0 on, which records its calls."""

    def __init__(self, length: int) -> None:
        self.numbers = list(range(length))
        self.asked: list[int] = []
        self.counted = 0
        self.open = 0

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Self]:
        self.open += 1
        yield self
        self.open -= 1

    async def count(self, owner: str | None = None) -> int:
        self.counted += 1
        return len(self._of(owner))

    async def rows(
        self,
        limit: int,
        *,
        after: int | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[int]:
        assert limit > 0
        self.asked.append(limit)
        found = [n for n in self._of(owner) if after is None or n > after]
        return found[offset : offset + limit]

    def _of(self, owner: str | None) -> list[int]:
        return [n for n in self.numbers if owner is None or n % 2]

    async def listed(
        self, window: Window | None = None, owner: str | None = None, piece: int = 10
    ) -> Listing[int]:
        return await listing(self.read, lambda tx: tx, window, owner=owner, piece=piece)


def page(limit: int | None) -> Window | None:
    return None if limit is None else Window(limit)


@given(st.integers(0, 60), st.integers(1, 12))
async def test_list_pieces_are_complete_and_bounded(length: int, piece: int) -> None:
    store = Numbers(length)

    pieces = [part async for part in await store.listed(piece=piece)]

    assert [n for part in pieces for n in part] == list(range(length))
    assert all(0 < len(part) <= piece for part in pieces)
    assert max(store.asked) <= piece


@given(st.integers(0, 60), st.integers(1, 12), st.integers(1, 40), st.integers(0, 70))
async def test_list_page_is_a_part_of_the_list(
    length: int, piece: int, limit: int, offset: int
) -> None:
    store = Numbers(length)
    listed = await store.listed(Window(limit, offset), piece=piece)

    assert await listed.everything() == list(range(length))[offset : offset + limit]
    assert listed.total == length
    assert listed.window == Window(limit, offset)
    assert max(store.asked) <= piece


@given(st.integers(0, 40), st.integers(1, 12), st.none() | st.integers(1, 40))
async def test_list_can_be_iterated_again(length: int, piece: int, limit: int | None) -> None:
    listed = await Numbers(length).listed(page(limit), piece=piece)

    assert await listed.everything() == await listed.everything() == list(range(length))[:limit]


@given(st.integers(0, 40), st.integers(1, 12), st.none() | st.integers(1, 40))
async def test_list_marked_complete_is_complete(length: int, piece: int, limit: int | None) -> None:
    listed = await Numbers(length).listed(page(limit), piece=piece)

    if listed.complete:
        assert listed.first == list(range(length))[:limit]
    else:
        assert len(listed.first) == piece


async def test_list_of_an_owner_is_limited_to_it() -> None:
    store = Numbers(9)

    assert await (await store.listed(owner="odd", piece=2)).everything() == [1, 3, 5, 7]
    some = await store.listed(Window(2, 1), owner="odd")
    assert await some.everything() == [3, 5]
    assert some.total == 4


async def test_list_has_no_open_transaction_between_pieces() -> None:
    store = Numbers(35)
    listed = await store.listed()

    assert store.open == 0
    async for _ in listed:
        assert store.open == 0
    assert store.asked == [10, 10, 10, 10]


async def test_list_reads_only_the_needed_pieces() -> None:
    store = Numbers(1000)
    listed = await store.listed()

    async for piece in listed:
        if 15 in piece:
            break

    assert store.asked == [10, 10]


async def test_list_is_stable_when_records_change_between_pieces() -> None:
    store = Numbers(30)
    listed = await store.listed()
    seen = []

    async for piece in listed:
        seen += piece
        if 0 in piece:
            store.numbers = [n for n in store.numbers if n not in {3, 9, 15}] + [30]

    assert seen == [n for n in range(31) if n != 15]


async def test_list_mapped_has_the_same_order_and_total() -> None:
    store = Numbers(25)
    shown = (await store.listed()).mapped(str)

    assert shown.first == [str(n) for n in range(10)]
    assert not shown.complete
    assert [len(piece) async for piece in shown] == [10, 10, 5]
    assert await shown.everything() == [str(n) for n in range(25)]
    nothing = (await Numbers(0).listed()).mapped(str)
    assert (nothing.complete, nothing.first, await nothing.everything()) == (True, [], [])
    some = (await store.listed(Window(5, 5))).mapped(str)
    assert (some.total, some.window, some.complete) == (25, Window(5, 5), True)
    assert await some.everything() == ["5", "6", "7", "8", "9"]


async def test_page_as_sent_is_read() -> None:
    store = Numbers(25)
    sent = command_of(Window, {"offset": 20})

    listed = await listing(store.read, lambda tx: tx, sent)

    assert await listed.everything() == [20, 21, 22, 23, 24]
    assert listed.window == Window(1000, 20)
    for window in (Window(1, 0), Window(1000, 0), Window(1, 2**63 - 1)):
        assert command_of(Window, {"limit": window.limit, "offset": window.offset}) == window


@pytest.mark.parametrize(
    ("limit", "offset", "fields"),
    [
        (0, 0, ["limit"]),
        (1001, 0, ["limit"]),
        (1, -1, ["offset"]),
        (1, 2**63, ["offset"]),
        (-5, -5, ["limit", "offset"]),
    ],
)
def test_page_out_of_bounds_is_refused(limit: int, offset: int, fields: list[str]) -> None:
    with pytest.raises(Invalid) as error:
        Window(limit, offset)

    assert [problem.field for problem in error.value.problems] == fields


@pytest.mark.parametrize(
    ("limit", "offset", "counted"),
    [(10, 0, 0), (10, 5, 0), (10, 8, 1), (10, 9, 1), (8, 0, 1), (3, 5, 1), (2, 5, 1)],
)
async def test_page_counts_the_list_only_if_it_does_not_show_its_end(
    limit: int, offset: int, counted: int
) -> None:
    store = Numbers(8)

    listed = await store.listed(Window(limit, offset))

    assert (listed.total, store.counted) == (8, counted)
