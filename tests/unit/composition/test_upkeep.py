"""What a serving process does periodically."""

import threading
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.composition import retention
from phoneprov_core.features.retention import EVERY, Prune
from support.served import served


def test_serving_process_prunes_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = threading.Event()
    calls: list[Prune] = []

    async def in_turn(prune: Prune) -> list[Any]:
        calls.append(prune)
        if len(calls) == 2:
            twice.set()
        return []

    monkeypatch.setattr(retention, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Prune, "in_turn", in_turn)

    with served(tmp_path):
        assert twice.wait(30)


def test_process_looks_for_old_records_more_often_than_they_are_pruned() -> None:
    milliseconds = retention.LOOK_SECONDS * 1000

    assert 60_000 <= milliseconds <= EVERY.window / 10
