"""Which deployments of a phone retention removes."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.features.retention import PIECE, PastDeployment, Piece, unneeded
from phoneprov_core.switching.deployments.model import Outcome

LATE = "2027-01-01T00:00:00.000Z"


class Past(NamedTuple):
    """A deployment of a test: a revision (None: no file in place), a text, an outcome, an age."""

    revision: int | None
    text: int
    outcome: Outcome = Outcome.DEPLOYED
    is_old: bool = True


pasts = st.lists(
    st.builds(
        Past,
        st.none() | st.integers(1, 6),
        st.integers(1, 3),
        st.sampled_from([*[Outcome.DEPLOYED] * 4, *Outcome]),
        st.booleans(),
    ),
    max_size=40,
)


def removed(deployments: Sequence[Past]) -> set[int]:
    """The numbers, from 1, of the removed ones among ``deployments``, the oldest first."""
    rows = [
        PastDeployment(
            str(number),
            "2026-01-01T00:00:00.000Z" if one.is_old else LATE,
            one.outcome,
            None if one.revision is None else ("profile", one.revision),
        )
        for number, one in enumerate(deployments, 1)
    ]

    def has_text_of(one: PastDeployment, other: PastDeployment) -> bool:
        texts = [deployments[int(each.uuid) - 1].text for each in (one, other)]
        return texts[0] == texts[1]

    return {int(uuid) for uuid in unneeded(rows[::-1], LATE, has_text_of)}


def expected(deployments: Sequence[Past]) -> set[int]:
    """The same by the words of ``RetentionStore``, one deployment after the other."""
    placed = [number for number, one in enumerate(deployments) if one.revision is not None]
    target = None
    if placed:
        earlier = [
            number
            for number in placed[:-1]
            if deployments[number].text != deployments[placed[-1]].text
            and deployments[number].outcome is not Outcome.UNKNOWN
        ]
        target = earlier[-1] if earlier else None
    old = [(number, one) for number, one in enumerate(deployments) if one.is_old]
    uncertain = {Outcome.UNKNOWN, Outcome.RUNNING}
    begun = [number for number, one in old if one.outcome is not Outcome.FAILED]
    in_place = [
        number for number, one in old if one.revision is not None and one.outcome not in uncertain
    ]
    then = {*begun[-1:], *in_place[-1:]}
    gone = set()
    for number, one in enumerate(deployments):
        later = [each for each in deployments[number + 1 :] if each.revision is not None]
        is_last_certain = not any(
            each.revision == one.revision and each.outcome not in {Outcome.UNKNOWN, Outcome.RUNNING}
            for each in later
        )
        is_recent = len({each.revision for each in later}) <= 3
        is_needed = (
            number == len(deployments) - 1
            or one.outcome is Outcome.RUNNING
            or (one.revision is not None and is_last_certain and is_recent)
            or number == target
            or number in then
        )
        if one.is_old and not is_needed:
            gone.add(number + 1)
    return gone


@given(pasts)
def test_unneeded_deployments_are_those_of_the_contract(deployments: list[Past]) -> None:
    assert removed(deployments) == expected(deployments)


def test_last_certain_deployment_stays_while_a_later_one_runs() -> None:
    running = Past(1, 1, Outcome.RUNNING)
    assert removed([Past(1, 1), running, Past(None, 1, Outcome.FAILED)]) == set()
    assert removed([Past(1, 1), Past(1, 1), Past(None, 1, Outcome.FAILED)]) == {1}


@pytest.mark.parametrize("texts", [1, 5000])
def test_text_of_each_deployment_is_compared_once_at_most(texts: int) -> None:
    count, compared = 5000, 0

    def has_text_of(one: PastDeployment, other: PastDeployment) -> bool:
        nonlocal compared
        compared += 1
        return int(one.uuid) % texts == int(other.uuid) % texts

    rows = [
        PastDeployment(str(number), "", Outcome.DEPLOYED, ("profile", number))
        for number in range(count, 0, -1)
    ]

    assert len(unneeded(rows, LATE, has_text_of)) == count - 4
    assert compared < count


def test_piece_with_many_keys_is_removed_in_parts() -> None:
    keys = tuple(map(str, range(2 * PIECE + 1)))
    parts = list(Piece(("mac",), len(keys), keys).parts())

    assert [len(part.keys) for part in parts] == [PIECE, PIECE, 1]
    assert [part.removable for part in parts] == [PIECE, PIECE, 1]
    assert list(Piece(("mac",), 3).parts()) == [Piece(("mac",), 3)]
