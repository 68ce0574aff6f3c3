"""Blocks of numbers."""

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.features.joining.model import Block, Joiner
from phoneprov_core.kernel.errors import Invalid

WIDTHS = st.integers(1, 6)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    width = draw(WIDTHS)
    ends = st.integers(0, 10**width - 1)
    first = draw(ends)
    last = min(first + draw(st.integers(0, 60)), 10**width - 1)
    return Block(f"{first:0{width}}", f"{last:0{width}}")


@given(block=blocks(), data=st.data())
def test_next_free_number_is_the_smallest_of_the_block_that_is_not_taken(
    block: Block, data: st.DataObject
) -> None:
    width = len(block.first)
    numbers = [f"{n:0{width}}" for n in range(int(block.first), int(block.last) + 1)]
    taken = data.draw(st.sets(st.sampled_from([*numbers, "x", "1" * 7])))

    found = block.next_free(taken)

    free = [number for number in numbers if number not in taken]
    assert found == (free[0] if free else None)


@given(block=blocks())
def test_block_of_its_own_text_is_the_same(block: Block) -> None:
    assert Block.of(f"{block.first}-{block.last}") == block
    assert Block.of(f" {block.first} - {block.last} ") == block


@given(text=st.text(alphabet="0123456789- x\u0663", max_size=12))
def test_block_of_any_text_is_a_block_or_an_error(text: str) -> None:
    try:
        block = Block.of(text)
    except ValueError:
        return
    assert len(block.first) == len(block.last)
    assert 0 <= int(block.last) - int(block.first) < 10_000


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"number": "300", "block": "300-349"}, "block"),
        ({"mac": "001bd4123456"}, "template"),
        ({"values": {"vlan": "7"}}, "template"),
        ({"block": "349-300"}, "block"),
        ({"block": "99-100"}, "block"),
    ],
)
def test_joiner_with_fields_that_exclude_each_other_is_invalid(
    fields: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        Joiner(first_name="A", last_name="B", username="a", email="a@b.ch", **fields)  # type: ignore[arg-type]
    assert [one.field for one in refused.value.problems] == [field]
