"""What the operating system gives."""

import os

import pytest

from phoneprov_adapters.runtime.tasks import processors
from phoneprov_core.people.auth.model import Lifetimes


@pytest.mark.parametrize(("counted", "expected"), [(6, 6), (None, 1)])
def test_processors_without_affinity_are_those_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, expected: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: counted)

    assert processors() == expected


def test_sessions_end_after_the_times_of_the_interface() -> None:
    minute, day = 60, 24 * 3600

    assert Lifetimes() == Lifetimes(15 * minute, 14 * day, 90 * day, 0)
