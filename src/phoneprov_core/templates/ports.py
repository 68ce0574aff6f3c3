"""Ports of templates: their store, and the renderer."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.configuration.findings import Finding
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.store import Store
from phoneprov_core.templates.model import Template


class Given(Redacted, frozen=True):
    """What a template is rendered with; the names are those of ``language``. ``secret`` names the
    values that are masked, besides the passwords of lines."""

    objects: Annotated[Mapping[str, Mapping[str, str]], SECRET]
    lists: Annotated[Mapping[str, Sequence[Mapping[str, str | bool]]], SECRET]
    values: Annotated[Mapping[str, str], SECRET]
    secret: frozenset[str] = frozenset()


class Mark(Struct, frozen=True, array_like=True):
    """A place of a rendered text that comes from a given name: byte offsets, the name
    (``lines.number``), and whether it is secret."""

    start: int
    end: int
    name: str
    secret: bool


class UsedLine(Redacted, frozen=True, array_like=True):
    """A line that a text was rendered with: its number, and its password if that was read."""

    number: str
    password: Annotated[str | None, SECRET]


class Rendered(Redacted, frozen=True):
    """A rendered text, and where given names are in it, in order. Texts of the template itself have
    no mark. ``lines`` are the elements of ``lines`` whose number, name or password was read, also
    in a condition, in their order."""

    text: Annotated[str, SECRET]
    marks: tuple[Mark, ...] = ()
    lines: tuple[UsedLine, ...] = ()


def secrets_of(rendered: Rendered | None) -> tuple[tuple[int, int], ...]:
    """The places of the secrets of a rendered text, as byte offsets."""
    marks = () if rendered is None else rendered.marks
    return tuple((mark.start, mark.end) for mark in marks if mark.secret)


class TemplateFault(Exception):
    """A template that cannot be rendered with what is given: the position in its text, both from 1,
    and the reason as a sentence."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.column, self.reason = line, column, reason


class Renderer(Protocol):
    """Checks and renders the bodies of templates. Every given text is escaped for XML, in every
    position. Cost and memory are bounded by ``language`` for every body: no construct reaches
    Python, a file or a process."""

    async def check(self, body: str) -> tuple[Finding, ...]:
        """What prevents a body from being used: syntax, constructs that are not part of the
        language, names that are not given. Each finding is an error with its position; empty for a
        good body."""

    async def render(self, body: str, given: Given, largest: int) -> Rendered:
        """The text of at most ``largest`` bytes. Line ends of the body are kept. Raises
        ``TemplateFault`` for a body that ``check`` refuses, for a name that is not given, for
        control characters in a given text, and beyond a bound."""


class TemplateStore(Store[Template], Protocol):
    """Templates, by uuid. Name, model and software type together are unique: ``add`` and ``put``
    raise ``AlreadyExists`` before they return. The name is the owner of its variants."""

    async def variants(self, name: str) -> list[Template]:
        """The variants of this exact name, oldest first. In a writing transaction no other
        transaction changes them until this one ends."""

    async def profiles_with(self, name: str) -> int:
        """Number of profiles whose newest revision names this template."""
