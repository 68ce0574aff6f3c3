"""Checks that hold for the records of every resource."""

from collections.abc import Sequence

from support.api import Caller, data_of, error_of


async def check_pages(reader: Caller, path: str, noun: str, rows: Sequence[object]) -> None:
    """The list at ``path`` has these three rows, and a page has two of them."""
    everything = await reader.get(path)
    page = await reader.get(path, limit=2, offset=1)

    assert data_of(everything, 200, f"3 {noun}(s) found") == rows
    assert everything.json()["metadata"] == {}
    assert data_of(page, 200, f"2 {noun}(s) found") == rows[1:]
    assert page.json()["metadata"] == {"total": 3, "limit": 2, "offset": 1}


async def check_not_found(caller: Caller, path: str) -> None:
    """Reads, changes and deletions of the record at ``path`` are 404."""
    error_of(await caller.get(path), 404, "not_found")
    error_of(await caller.put(path, {}), 404, "not_found")
    error_of(await caller.delete(path), 404, "not_found")


async def check_deletion(caller: Caller, path: str, message: str) -> None:
    """The record at ``path`` can be deleted, and does not exist afterwards."""
    assert data_of(await caller.delete(path), 200, message) is None
    await check_not_found(caller, path)
