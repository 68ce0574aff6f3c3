"""A parser accepts any input or refuses it with an error of phoneprov, within milliseconds."""

import time

import pytest
from hypothesis import HealthCheck, given, settings

from support.mutation import Mutations, composed
from support.parsers import PARSERS
from support.scale import SEED, note, random_choices, rounds

MUTATED = rounds(1500, 141_000)
COMPOSED = rounds(60, 2_000)

MOST = 0.05
"""Seconds of processor time for one input."""


class Attempts:
    """The inputs of one parser, and their outcomes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._takes = PARSERS[name].takes
        self.count = 0
        self.taken = 0
        self.slowest = 0.0

    def give(self, content: bytes) -> None:
        took = self._once(content)
        if took > MOST:  # may be chance on a busy machine
            took = min(took, self._once(content), self._once(content))
        assert took < MOST, (self._name, took, content)
        self.count += 1
        self.slowest = max(self.slowest, took)

    def _once(self, content: bytes) -> float:
        began = time.thread_time()
        try:
            self.taken += self._takes(content)
        except BaseException as error:
            error.add_note(f"{self._name} was given {content!r}; PHONEPROV_SEED={SEED}")
            raise
        return time.thread_time() - began


@pytest.mark.parametrize("name", PARSERS)
def test_parsers_raise_only_phoneprov_errors(name: str) -> None:
    corpus, words, _ = PARSERS[name]
    attempts = Attempts(name)
    began = time.monotonic()

    for content in corpus:
        attempts.give(content)
    mutations = Mutations(corpus, words, random_choices(name))
    for _ in range(MUTATED - len(corpus)):
        attempts.give(mutations.one())

    @settings(
        max_examples=COMPOSED,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(composed(corpus, words))
    def reassemble(content: bytes) -> None:
        attempts.give(content)

    reassemble()
    # All refused, or all accepted, would show that the inputs reach nothing.
    assert 0 < attempts.taken < attempts.count
    note(
        f"{name}: {attempts.count} inputs, {attempts.taken} taken, the slowest "
        f"{attempts.slowest * 1000:.1f} ms, {time.monotonic() - began:.0f} s in all"
    )
