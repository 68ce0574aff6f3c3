"""Makes the pictures of the README and of the site: ``make pictures``.

``docs/console.png`` is the console of ``phoneprov demo --keep`` in Chromium, ``docs/phone.svg``
shows two screens of its simulated phone, and ``docs/demo.svg`` the output of the demo.
"""

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from itertools import groupby
from pathlib import Path

from browser.cdp import browser
from phoneprov_adapters.simulator.phone import Screen, ScreenPage

DOCS = Path(__file__).resolve().parents[1] / "docs"
MAC = "00:1B:D4:12:34:56"
MOST_BYTES = 150_000
WIDTH, HEIGHT = 340, 250
LCD, INK, BODY = "#dfe8d8", "#1d2a1d", "#2b2f36"
DEMO_WIDTH, DEMO_SCREEN, DEMO_HEIGHT, LINE = 760, 177, 110, 18
SCREEN = "    | "


def main() -> None:
    """Run the demo and make the pictures."""
    demo = subprocess.Popen(
        [sys.executable, "-u", "-m", "phoneprov_http.main", "demo", "--keep"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert demo.stdout
    try:
        shown = ""
        for line in demo.stdout:
            shown += line
            if line.startswith("Password: "):
                break
        login = dict(re.findall(r"^(Username|Password): (.+)$", shown, re.MULTILINE))
        (base,) = re.findall(r"^The console is at (.+)/console/$", shown, re.MULTILINE)
        output = shown.partition("The console is at")[0].splitlines()
        (DOCS / "demo.svg").write_text(demo_drawing(output[:1] + output[2:]), encoding="utf-8")
        picture_console(base, login["Username"], login["Password"])
        asyncio.run(picture_phone(base))
    finally:
        demo.terminate()
        demo.wait()


def picture_console(base: str, username: str, password: str) -> None:
    """The state of the office."""
    program = shutil.which("chromium")
    assert program, "Chromium is not installed."
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        browser(program, Path(profile)) as page,
    ):
        size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.call("Page.navigate", url=f"{base}/console")
        page.type("[name=username]", username)
        page.type("[name=password]", password)
        page.click("[type=submit]")
        page.see_heading("Overview")
        page.until("document.querySelectorAll('.chart rect').length > 30")
        page.until("!document.querySelector('[aria-busy=true]')")
        page.screenshot(DOCS / "console.png")
    size_of = (DOCS / "console.png").stat().st_size
    assert size_of < MOST_BYTES, f"docs/console.png has {size_of} bytes"


async def picture_phone(base: str) -> None:
    """The menu of services, and the company directory."""
    async with Screen(base, MAC) as screen:
        menu = await screen.services()
        directories = await screen.choose(menu, "Directories")
        form = await screen.choose(directories, "Company")
        found = await screen.submit(form, "", "")
    drawn = "".join(drawing(page, place) for place, page in enumerate((menu, found)))
    width = 2 * (WIDTH + 40)
    (DOCS / "phone.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 40}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">'
        "<title>A phone shows its services and the company directory</title>"
        f"{drawn}</svg>\n",
        encoding="utf-8",
    )


def drawing(page: ScreenPage, place: int) -> str:
    """One screen: title, lines, soft keys."""
    left = 20 + place * (WIDTH + 40)
    parts = [
        box(left - 12, 8, WIDTH + 24, HEIGHT + 24, BODY),
        box(left, 20, WIDTH, HEIGHT, LCD),
        text(left + 12, 46, page.title, 18, "bold"),
    ]
    lines = [f"{number}  {name}" for number, (name, _) in enumerate(page.items, 1)]
    lines += [f"{name}: {number}" for name, number in page.entries]
    parts += [text(left + 12, 78 + 26 * row, line, 16) for row, line in enumerate(lines[:6])]
    keys = [name for name, _ in page.keys][:4] or ["Select", "Exit"]
    for spot, key in enumerate(keys):
        parts.append(text(left + 12 + 84 * spot, HEIGHT + 8, key, 14, "bold"))
    return "".join(parts)


def demo_drawing(output: list[str]) -> str:
    """The output of the demo: its steps in terminals, the screens of the phone as screens.

    Each line of the output is one ``<text>``, in the same order.
    """
    parts, top = [], 8
    for is_screen, group in groupby(output, lambda line: line.startswith(SCREEN)):
        lines = list(group)
        if is_screen:
            parts += demo_screens([line.removeprefix(SCREEN) for line in lines], top)
            top += DEMO_HEIGHT + 12
            continue
        y, drawn = top + 21, []
        for line in map(without_values, lines):
            drawn.append(wrapped(20, y, line, 98, 12, LCD, "monospace"))
            y += LINE * len(textwrap.wrap(line, 98))
        parts += [box(8, top, DEMO_WIDTH - 16, y - top - 5, BODY), *drawn]
        top = y + 7
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {DEMO_WIDTH} {top}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">'
        "<title>The output of phoneprov demo: a switch, a login at the phone, a search</title>"
        f'<rect width="{DEMO_WIDTH}" height="{top}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def demo_screens(lines: list[str], top: int) -> list[str]:
    """Small screens in a row."""
    parts, left = [], 8 - DEMO_SCREEN - 12
    for line in lines:
        if line.startswith("["):
            left, y = left + DEMO_SCREEN + 12, top + 22
            parts.append(box(left, top, DEMO_SCREEN, DEMO_HEIGHT, BODY))
            parts.append(box(left + 5, top + 5, DEMO_SCREEN - 10, DEMO_HEIGHT - 10, LCD))
            parts.append(text(left + 13, y, line.strip("[]"), 12, "bold"))
        else:
            parts.append(wrapped(left + 13, y, line.strip(), 26, 11, INK))
        y += LINE * len(textwrap.wrap(line.strip(), 26))
    return parts


def without_values(line: str) -> str:
    """The line without what differs from run to run, or is long."""
    line = re.sub(r"(127\.0\.0\.1):\d+", r"\1:...", line)
    line = re.sub(r"SHA-256 \w+", "SHA-256 ...", line)
    line = re.sub(r"(KeyPadStar), .*", r"\1, ...", line)
    return re.sub(r"\(fetch [\w-]+\)", "(fetch ...)", line)


def wrapped(x: int, y: int, shown: str, width: int, size: int, fill: str, font: str = "") -> str:
    """A text of several lines if it is wider than ``width`` characters."""
    pieces = textwrap.wrap(shown, width)
    inner = " ".join(
        f'<tspan x="{x}" dy="{LINE if place else 0}">{escape(piece)}</tspan>'
        for place, piece in enumerate(pieces)
    )
    family = f' font-family="{font}"' if font else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"{family}>{inner}</text>'


def box(x: int, y: int, width: int, height: int, fill: str) -> str:
    """A rectangle with round corners."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}"/>'


def text(x: int, y: int, shown: str, size: int, weight: str = "normal") -> str:
    """A line of the screen."""
    style = f'font-size="{size}" font-weight="{weight}" fill="{INK}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(shown)}</text>'


if __name__ == "__main__":
    main()
