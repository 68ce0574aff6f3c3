"""Size of the first load, and scrolling of 10,000 rows."""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from browser.console_rig import Console, Service


def measured(text: str) -> None:
    """A figure for the report of pytest -rP."""
    sys.stdout.write(text + "\n")


def test_first_page_is_small_and_of_few_requests(browser: Browser, service: Service) -> None:
    context = browser.new_context()
    console = Console(context, service.url)
    sizes: list[int] = []
    console.page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    began = time.perf_counter()
    console.open()
    console.page.get_by_label("Username").wait_for()
    seconds = time.perf_counter() - began
    measured(f"sign-in: {sum(sizes)} bytes in {len(sizes)} requests, {seconds:.2f} s")
    assert sum(sizes) <= 90 * 1024
    console.sign_in()
    console.settled()
    console.page.wait_for_timeout(2000)  # nothing more is fetched while the operator reads
    measured(f"overview: {sum(sizes)} bytes in {len(sizes)} requests")
    assert len(sizes) <= 40
    context.close()


def test_list_of_10000_phones_scrolls_without_long_tasks(
    browser: Browser, service: Service, screenshots: Path
) -> None:
    rows = "".join(
        f"00:1B:D5:{n >> 16:02X}:{n >> 8 & 255:02X}:{n & 255:02X},CP-7945G,Desk {n},Floor {n % 9}\n"
        for n in range(10_000)
    )
    service.api("POST", "imports/phones", {"csv": "mac,model,name,location\n" + rows})
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    console = Console(context, service.url)
    console.open()
    console.sign_in()
    console.go("Phones")
    page = console.page
    expect(page.get_by_text(re.compile("10,00[0-9] rows"))).to_be_visible()
    scroller = page.locator(".scroller")
    tasks = tasks_of(browser, page, lambda: scrolled(scroller))
    longest = max(wall for wall, _ in tasks)
    busiest = max(processor for _, processor in tasks)
    measured(f"longest task while scrolling: {longest:.0f} ms, processor time {busiest:.0f} ms")
    page.screenshot(path=screenshots / "phones-10000.png")
    page.keyboard.press("End")
    expect(page.locator("[data-index]").last).to_contain_text("00:1B:D5:00:27:0F")
    assert len(tasks) > 100
    # The wall-clock time includes that of other processes of this machine.
    assert busiest <= 50
    context.close()


def tasks_of(browser: Browser, page: Page, work: Callable[[], None]) -> list[tuple[float, float]]:
    """The tasks of the page's main thread during ``work``: milliseconds of wall-clock time, and
    milliseconds of processor time."""
    browser.start_tracing(page=page, categories=["toplevel"])
    work()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in events
        if one.get("name") == "thread_name"
    }
    return [
        (one["dur"] / 1000, one["tdur"] / 1000)
        for one in events
        if one.get("ph") == "X"
        and one["name"].endswith("RunTask")
        and "tdur" in one
        and threads.get((one["pid"], one["tid"])) == "CrRendererMain"
    ]


def scrolled(scroller: Locator) -> None:
    scroller.evaluate("e => e.scrollTo(0, 0)")
    scroller.hover()
    for _ in range(100):
        scroller.page.mouse.wheel(0, 900)
        scroller.page.wait_for_timeout(16)
    scroller.evaluate("e => e.scrollTo(0, e.scrollHeight)")
    scroller.page.wait_for_timeout(500)
    scroller.evaluate("e => e.focus()")
