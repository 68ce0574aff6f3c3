"""Stores that lines are read from."""

from typing import Protocol

from phoneprov_core.extensions import CHAN_SCCP, Extension
from phoneprov_core.kernel.store import Store
from phoneprov_core.lines.model import Number, PhoneNumbers, UsedPhone
from phoneprov_core.links import LinkStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import ProfileRecord


class LineStore(Protocol):
    """Numbers of users and phones. Only active extensions of one type count, and only links of
    active users. Each method is one query by indexes."""

    async def at(self, mac: str, kind: str = CHAN_SCCP) -> PhoneNumbers | None:
        """A phone of the inventory by its canonical MAC, with the numbers of the user of its desk
        and of the owner of its current deployment; None for any other MAC."""

    async def of_user(self, user_uuid: str) -> list[Number]:
        """The numbers of a user, the oldest link first."""

    async def find(self, number: str, kind: str = CHAN_SCCP) -> Number | None:
        """The extension with exactly this number, linked or not; None if there is none."""

    async def uuid_of(self, number: str, kind: str) -> str | None:
        """The uuid of the extension that ``find`` finds."""

    async def earlier_numbers(self, mac: str, kind: str) -> list[str]:
        """The numbers linked to the owners of the last five deployments that brought a file to this
        canonical MAC, the newest first; of inactive users, too. A number may be repeated."""

    async def phones_of(self, user_uuid: str) -> list[UsedPhone]:
        """The phones whose desk or whose current deployment is that of this user, by MAC."""

    async def phones_of_leavers(self) -> list[Phone]:
        """The active phones whose current deployment is that of a user who is inactive or deleted,
        by MAC."""


class LinesTransaction(Protocol):
    """Stores that the use cases of lines use."""

    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def lines(self) -> LineStore: ...


class ExchangeLines(Protocol):
    """What the exchange has of phones and lines."""

    async def numbers(self, mac: str) -> tuple[str, ...]:
        """The numbers of the lines at a phone, in the order of its buttons. Raises ``Refused`` if
        the exchange does not have the phone, or does not show it, and ``TimedOut`` if it does not
        answer within 5 seconds."""

    async def devices(self) -> frozenset[str]:
        """The canonical MACs of the phones that the exchange has. Raises like ``numbers``."""
