"""The screen of a simulated phone in the terminal."""

import asyncio
import sys
from collections.abc import Awaitable

import click
import httpx

from phoneprov_adapters.simulator.screen import Screen, ScreenPage
from phoneprov_http.main.commands.options import printable


async def show_screen(base: str, mac: str, model: str) -> None:
    """Show pages and take keys until the input ends."""
    click.echo("Keys: a number chooses a line, a name presses a soft key, s is Services, q ends.")
    async with Screen(base, mac, model) as screen:
        page = await _fetched(screen.services())
        while True:
            if page is not None:
                for line in page.lines():
                    click.echo(f"  | {printable(line)}")
            try:
                page = await _next(screen, page)
            except (EOFError, click.Abort):
                return


async def _next(screen: Screen, page: ScreenPage | None) -> ScreenPage | None:
    """The page after the keys of the user. Raises ``EOFError`` at the end."""
    if page is not None and page.fields:
        values = [await _typed(name, hidden="PIN" in name.upper()) for name, _ in page.fields]
        return await _fetched(screen.submit(page, *values))
    key = (await _typed("key")).strip()
    if key == "q":
        raise EOFError
    if key == "s" or page is None:
        return await _fetched(screen.services())
    if key.isascii() and key.isdigit() and 0 < int(key) <= len(page.items):
        return await _fetched(screen.open(page.items[int(key) - 1][1]))
    pressed = [url for name, url in page.keys if key and name.casefold() == key.casefold()]
    if not pressed:
        return page
    if not pressed[0].startswith("SoftKey:"):
        return await _fetched(screen.open(pressed[0]))
    if pressed[0] == "SoftKey:Exit":
        return await _fetched(screen.services())
    click.echo(f"  | ({pressed[0]})")
    return page


async def _typed(label: str, *, hidden: bool = False) -> str:
    # Input that is not from a terminal is read as it is.
    hidden = hidden and sys.stdin.isatty()

    def prompt() -> str:
        return str(click.prompt(label, default="", show_default=False, hide_input=hidden))

    return await asyncio.to_thread(prompt)


async def _fetched(fetching: Awaitable[ScreenPage]) -> ScreenPage | None:
    """The page, or None with a message where a phone shows an error."""
    try:
        page = await fetching
    except httpx.HTTPError as error:
        click.echo(f"  | Host Not Found ({type(error).__name__})")
    except (ValueError, LookupError) as error:
        click.echo(f"  | {error}")
    else:
        return page
    return None
