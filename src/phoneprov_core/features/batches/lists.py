"""A list of phones as people paste it, with the profile that each one gets."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

from msgspec import Struct

from phoneprov_core.features.batches.commands import MOST_MACS
from phoneprov_core.features.batches.ports import BatchesTransaction
from phoneprov_core.inventory.phones.model import Phone, misfit
from phoneprov_core.inventory.profiles.model import ProfileRecord
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import Command, wrong
from phoneprov_core.kernel.fields import StoredMac, Uuid, schema
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.values import known_id
from phoneprov_core.people.users.use_cases import UserStore
from phoneprov_core.switching.devices.names import mac_in_table

_PIECE = 1000
_NAMED = 5
"""Maximum number of profiles that a problem names."""
_LINE_END = re.compile("\r\n|\n|\r")
_SEPARATOR = re.compile("[\t;,]")
_MACS = re.compile(r"[^\s;,]+")
_KINDS = ("profile", "username")


class ReadPhones(Command, frozen=True, kw_only=True):
    """A list to be read."""

    text: Annotated[
        str,
        schema(
            "Lines with the MAC address of a phone, or with `mac,profile` or `mac,username`; also "
            "separated by semicolons or tabs. A first line may name the columns",
            examples=["001bd4123456,The lobby\n001bd4123457,ada"],
        ),
    ]


class ListedPhone(Struct, frozen=True):
    """A phone of the list."""

    line: Annotated[int, schema("Number of the line, from 1", minimum=1, examples=[1])]
    mac: StoredMac
    profile_uuid: Annotated[Uuid, schema("The profile; null if the list names none")] | None


class LineProblem(Struct, frozen=True):
    """A line that cannot be used."""

    line: Annotated[int, schema("Number of the line, from 1", minimum=1, examples=[2])]
    message: Annotated[
        str, schema("What is wrong", examples=["001bd4 is not the MAC address of a phone."])
    ]


class PhoneList(Struct, frozen=True):
    """What a list holds. Each line that is not empty is a phone, a problem, or repeats a phone."""

    phones: Annotated[tuple[ListedPhone, ...], schema("The phones, in the order of the lines")]
    problems: Annotated[tuple[LineProblem, ...], schema("The other lines, in their order")]


class ListsTransaction(BatchesTransaction, Protocol):
    """Stores that lists are read with."""

    @property
    def users(self) -> UserStore: ...


class _Row(NamedTuple):
    line: int
    mac: str
    name: str


class _Wrong(Exception):
    """Why a line cannot be used, as a sentence."""


@dataclass(frozen=True)
class ReadPhoneList:
    """Reads lists for batches; requires level 0, and changes nothing."""

    database: ReadAndWrite[ListsTransaction]

    async def __call__(self, actor: Actor, given: ReadPhones) -> PhoneList:
        """The phones and the problems of a list. Raises ``Invalid`` for a list of too many
        lines."""
        require_superadmin(actor)
        kinds, rows = _rows_of(given.text)
        async with self.database.read() as tx:
            return await _Reading(tx, kinds, rows).result()


def _rows_of(text: str) -> tuple[tuple[str, ...], list[_Row | LineProblem]]:
    """What the second column may be, and the rows. Raises ``Invalid`` at the first row too many."""
    kinds: tuple[str, ...] = _KINDS
    of_mac, of_name, is_named = 0, 1, False
    rows: list[_Row | LineProblem] = []
    for line, content, cells in _cells_in(text.removeprefix("\ufeff")):
        names = [cell.casefold() for cell in cells or ()]
        if not rows and "mac" in names and not any(map(mac_in_table, names)):
            kinds = tuple(kind for kind in _KINDS if kind in names)[:1] or _KINDS
            is_named = kinds[0] in names
            of_mac, of_name = names.index("mac"), names.index(kinds[0]) if is_named else len(names)
        elif not is_named and all(map(mac_in_table, macs := _MACS.findall(content))):
            rows += [_Row(line, mac, "") for mac in macs]
        elif cells is None:
            rows.append(LineProblem(line, "A quotation mark is not closed, or is amid a cell."))
        else:
            mac, name = (cells[at] if at < len(cells) else "" for at in (of_mac, of_name))
            rows.append(_Row(line, mac, name))
        if len(rows) > MOST_MACS:
            raise wrong("text", f"must have at most {MOST_MACS} lines")
    return kinds, rows


def _cells_in(text: str) -> Iterator[tuple[int, str, list[str] | None]]:
    """Each line that is not empty, and its cells; None for quotation marks that do not fit."""
    separator = ""
    for number, line in enumerate(_LINE_END.split(text), 1):
        if number == 1 and line[:4].casefold() == "sep=":
            separator = line[4:5]
            continue
        found = _SEPARATOR.search(line)
        own = separator or (found[0] if found else ",")
        if not line.strip(f" \t{own}"):
            continue
        try:
            (cells,) = csv.reader([line], delimiter=own, strict=True)
        except csv.Error:
            yield number, line, None
        else:
            yield number, line, [cell.strip() for cell in cells]


class _Reading:
    def __init__(
        self, tx: ListsTransaction, kinds: tuple[str, ...], rows: list[_Row | LineProblem]
    ) -> None:
        self._tx, self._kinds, self._rows = tx, kinds, rows
        self._listed: dict[str, ListedPhone] = {}
        self._phones: dict[str, Phone] = {}
        self._named: defaultdict[str, list[ProfileRecord]] = defaultdict(list)
        self._owned: defaultdict[str, list[ProfileRecord]] = defaultdict(list)

    async def result(self) -> PhoneList:
        """What the list holds."""
        rows = [one for one in self._rows if isinstance(one, _Row)]
        macs = {mac for row in rows if (mac := mac_in_table(row.mac))}
        phones = self._tx.phones.matching(Search(filters=(("mac", tuple(sorted(macs))),)))
        self._phones = {one.mac: one for one in await phones.rows(MOST_MACS)}
        with_names = any(row.name for row in rows)
        if with_names:
            await self._read_profiles()
        problems = []
        for row in self._rows:
            if isinstance(row, LineProblem):
                problems.append(row)
                continue
            try:
                await self._read(row, with_names=with_names)
            except _Wrong as why:
                problems.append(LineProblem(row.line, str(why)))
        return PhoneList(tuple(self._listed.values()), tuple(problems))

    async def _read_profiles(self) -> None:
        last = None
        while piece := await self._tx.profiles.rows(_PIECE, after=last):
            last = piece[-1]
            for profile in piece:
                self._named[profile.name].append(profile)
                self._named[profile.uuid].append(profile)
                self._owned[profile.user_uuid].append(profile)

    async def _read(self, row: _Row, *, with_names: bool) -> None:
        mac = mac_in_table(row.mac)
        if not mac:
            raise _Wrong(f"{row.mac or 'An empty cell'} is not the MAC address of a phone.")
        phone = self._phones.get(mac)
        if phone is None:
            raise _Wrong(f"There is no phone {mac} in the inventory.")
        if with_names and not row.name:
            raise _Wrong(f"{mac} has no profile; other lines have one.")
        uuid = await self._profile(phone, row.name) if with_names else None
        before = self._listed.setdefault(mac, ListedPhone(row.line, mac, uuid))
        if before.profile_uuid != uuid:
            raise _Wrong(f"{mac} has another profile in line {before.line}.")

    async def _profile(self, phone: Phone, name: str) -> str:
        called = self._named[name] or self._named[known_id(name)]
        owned = await self._of_user(phone, name) if "username" in self._kinds else None
        of_kind = {"profile": called, "username": owned}
        found = {one.uuid: one for kind in self._kinds for one in of_kind[kind] or ()}
        if len(found) == 1:
            return next(iter(found))
        if found:
            some = ", ".join(f"{one.name} ({one.uuid})" for one in [*found.values()][:_NAMED])
            raise _Wrong(f"{name} is the name of {len(found)} profiles: {some}. Use a UUID.")
        if owned is not None:
            raise _Wrong(f"{name} has no profile that fits {phone.mac}.")
        words = {"profile": "profile", "username": "account"}
        raise _Wrong(f"There is no {' and no '.join(words[one] for one in self._kinds)} {name}.")

    async def _of_user(self, phone: Phone, name: str) -> list[ProfileRecord] | None:
        """The profiles of an account that fit a phone; None without such an account."""
        user = await self._tx.users.by_username(name)
        if user is None:
            return None
        return [
            one
            for one in self._owned[user.uuid]
            if not misfit(phone, one.compatible_models, one.software_type)
        ]
