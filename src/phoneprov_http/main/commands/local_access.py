"""For commands: calls of use cases as the operator of the machine, and access to files."""

import asyncio
import filecmp
import io
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TextIO, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import opened, prepare, running
from phoneprov_adapters.files.configurations import read_configuration
from phoneprov_core.kernel.actor import Actor, system_actor
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.ports import Listing
from phoneprov_core.kernel.values import known_id
from phoneprov_http.main.commands.settings import settings_of_installation

R = TypeVar("R")
T = TypeVar("T")

NOT_SEEN = 3
"""The exit code if the file is in place, but the phone was not restarted, if the restart is not
known, or if the phone was not seen to register again."""

_MOST_NAMESAKES = 5


class Acting(NamedTuple):
    """The container of the use cases, and the actor who calls them."""

    container: Container
    actor: Actor


def as_operator(work: Callable[[Acting], Awaitable[R]], *, watching: bool = True) -> R:
    """The result of ``work``, which is called with the database of the settings open. A service may
    use the database at the same time.

    Unless ``watching``, restarted phones are not watched. Raises ``SettingsError``, also if there
    is no installation, and ``Unavailable``.
    """
    # The command prints an error as one line; without a handler Python would log it as well.
    logging.getLogger("phoneprov").addHandler(logging.NullHandler())

    async def called() -> R:
        settings = settings_of_installation()
        if not watching:
            settings = replace(settings, confirm_timeout=0)
        container = prepare(settings)
        async with running(container):
            return await work(Acting(container, system_actor(settings.level_rule)))

    return asyncio.run(called())


def in_container(work: Callable[[Container], Awaitable[R]]) -> R:
    """The result of ``work`` with the container of an installation, and with the database open."""

    async def called() -> R:
        container = prepare(settings_of_installation())
        async with opened(container):
            return await work(container)

    return asyncio.run(called())


async def matching(listing: Listing[T], fits: Callable[[T], bool]) -> list[T]:
    """The records of a list, of any length, for which ``fits`` returns True."""
    return [one async for piece in listing for one in piece if fits(one)]


async def profile_called(acting: Acting, text: str) -> str:
    """The uuid of the profile with this uuid or name. Raises ``NotFound``, and ``Conflict``
    when several have the name."""
    if uuid := known_id(text):
        return uuid
    profiles = await acting.container.profiles().all(acting.actor)
    found = [one.uuid for one in await matching(profiles, lambda one: one.name == text)]
    if not found:
        raise NotFound(f"There is no profile called {text!r}.")
    if len(found) > 1:
        some = ", ".join(found[:_MOST_NAMESAKES])
        raise Conflict(
            f"{len(found)} profiles are called {text!r}; use the uuid of one of them, such as "
            f"{some}."
        )
    return found[0]


def counting(*columns: ProgressColumn, quiet: bool = False, transient: bool = True) -> Progress:
    """A progress bar on standard error, shown on terminals only and removed at the end if it is
    ``transient``. The description of a task is its label; ``columns`` follow the number."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *columns,
        console=console(stderr=True),
        transient=transient,
        disable=quiet or not sys.stderr.isatty(),
    )


def console(*, stderr: bool = False) -> Console:
    """A console that does not interpret the content of records as markup."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)


def content_of(file: Path) -> str:
    """The text of a configuration file. Raises ``UsageError`` if the file cannot be read as
    text."""
    try:
        return read_configuration(file)
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise click.UsageError(f"{file} {error}.") from None


@contextmanager
def readable(file: Path) -> Iterator[Path]:
    """The file; for ``-`` and pipes, which can be read only once, a copy of their content."""
    if str(file) != "-" and file.is_file():
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="phoneprov-import-") as copy:
        with click.open_file(str(file), "rb") as content:
            shutil.copyfileobj(content, copy)
        copy.flush()
        yield Path(copy.name)


@contextmanager
def written(file: Path, *, private: bool) -> Iterator[TextIO]:
    """A text stream in UTF-8: standard output for ``-``; the existing pipe or device; otherwise a
    new file, which replaces ``file`` (or the target of a link) when it is complete."""
    if str(file) == "-":
        # Not in the encoding of the locale, which may lack letters, and which imports cannot read.
        out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            yield out
        finally:
            out.detach()  # flushes, and leaves standard output open
        return
    if _is_special(file):
        with file.open("w", encoding="utf-8", newline="") as special:
            yield special
        return
    file = file.resolve()
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        if _is_same(Path(name), file):
            Path(name).unlink()
        else:
            Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_same(new: Path, file: Path) -> bool:
    """Whether the file exists with the same content and mode. It is not replaced then, so that its
    modification time changes only with its content."""
    if not file.is_file() or new.stat().st_mode != file.stat().st_mode:
        return False
    return filecmp.cmp(new, file, shallow=False)


def _is_special(file: Path) -> bool:
    if Path(os.path.normpath(file.absolute())).parts[1:2] in {("dev",), ("proc",)}:
        return True
    return file.exists() and not file.is_file()
