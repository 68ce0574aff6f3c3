"""Configurations are compared without blocking the event loop."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

from phoneprov_adapters.runtime.tasks import Comparing
from phoneprov_core.inventory.configuration.comparison import Comparison, compare
from phoneprov_core.kernel.errors import Unavailable

LARGE = Comparison(
    old="<d>\n" + "<pin>1</pin>\n" * 2000 + "</d>",
    new="<d>\n" + "<pin>2</pin>\n" * 2000 + "<deviceProtocol>SIP</deviceProtocol></d>",
    old_label="old",
    new_label="new",
    mac="00:1B:D4:12:34:56",
    family="SCCP",
)
SMALL = Comparison(old=None, new="<device/>")


@pytest.mark.parametrize("comparison", [LARGE, SMALL], ids=["large", "small"])
async def test_comparing_result_is_that_of_compare(comparison: Comparison) -> None:
    assert await Comparing()(comparison) == compare(comparison)


async def test_comparing_large_text_runs_in_another_process_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PHONEPROV_SECRET_KEYS", "not for the child")
    calls = []
    run = subprocess.run

    def noted(arguments: list[str], **options: object) -> object:
        calls.append((arguments, options["env"]))
        return run(arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", noted)

    await Comparing()(LARGE)
    await Comparing()(SMALL)

    [(arguments, environment)] = calls
    assert arguments[0] == sys.executable
    assert isinstance(environment, dict)
    assert "PHONEPROV_SECRET_KEYS" not in environment
    assert "PHONEPROV_SECRET_KEYS" in os.environ


async def test_comparing_past_the_deadline_raises_unavailable() -> None:
    with pytest.raises(Unavailable, match="could not be compared in time"):
        await Comparing(seconds=0.001)(LARGE)


async def test_comparing_failed_process_raises_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(Unavailable):
        await Comparing()(LARGE)


async def test_comparing_small_text_does_not_wait_for_a_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    run = subprocess.run

    def held(arguments: list[str], **options: object) -> object:
        go_on.wait()
        return run(arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", held)
    comparing = Comparing()
    large = asyncio.ensure_future(comparing(LARGE))
    try:
        assert await comparing(SMALL) == compare(SMALL)
        assert not large.done()
    finally:
        go_on.set()
    assert await large == compare(LARGE)


def test_comparison_repr_holds_no_configuration() -> None:
    assert "pin" not in repr(LARGE)
