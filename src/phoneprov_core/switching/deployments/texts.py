"""The text of a deployment, and where secrets and lines are in it."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.switching.deployments.model import Deployment


class ValuePlace(Struct, frozen=True, array_like=True):
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
    marks: tuple[ValuePlace, ...] = ()
    lines: tuple[UsedLine, ...] = ()


class TemplateSource(Redacted, frozen=True):
    """What a text was rendered from, and where given names are in it."""

    template_uuid: str
    template_revision: int
    template_name: str
    rendered: Rendered


class RequestPart(Redacted, frozen=True):
    """The base of what only one participant of a deployment understands of its request."""


def secrets_of(rendered: Rendered | None) -> tuple[tuple[int, int], ...]:
    """The places of the secrets of a rendered text, as byte offsets."""
    marks = () if rendered is None else rendered.marks
    return tuple((mark.start, mark.end) for mark in marks if mark.secret)


class RenderingStore(Protocol):
    """The texts that were rendered for deployments, encrypted, deleted with their profiles."""

    async def keep(
        self, deployment: Deployment, rendered: Rendered, needed: Sequence[Deployment]
    ) -> None:
        """Keep the text of a deployment, and with it the numbers of its lines; a text that its
        phone had from the same profile is stored once. Of the texts of the phone the 10 that were
        kept last are left, and those of the deployments that are ``needed``. Raises ``NotFound`` if
        the profile does not exist."""

    async def of(self, deployment: Deployment) -> Rendered | None:
        """The text of a deployment, or None if it is no longer stored."""
