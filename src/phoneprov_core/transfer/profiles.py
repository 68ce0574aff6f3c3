"""Import of profiles: one configuration file per row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, PhoneprovError, Problem, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.phones.model import FAMILIES
from phoneprov_core.profiles.model import NewProfile, ProfilePatch
from phoneprov_core.profiles.use_cases import Profiles
from phoneprov_core.transfer.model import Imported, Progress, Row, RowProblem, Table
from phoneprov_core.transfer.rows import problems_of
from phoneprov_core.transfer.sheets import OWNER
from phoneprov_core.transfer.targets import Joined, TransferTransaction

PROFILE_COLUMNS = (OWNER, "name", "description", "compatible_models", "software_type", "cnf_xml")

ProfilesOver = Callable[[ReadAndWrite[Any]], Profiles]
"""Creates the profile use cases over a database or an open transaction."""


@dataclass(frozen=True)
class ProfileImport:
    """Imports the rows of one table in one transaction. A row names a profile by its user and its
    name; a name that the user does not have creates a profile."""

    database: ReadAndWrite[TransferTransaction]
    over: ProfilesOver

    async def __call__(
        self,
        actor: Actor,
        table: Table,
        progress: Progress,
        *,
        dry_run: bool,
        keep_going: bool,
    ) -> Imported:
        """Write all rows, or none if a row is wrong, unless ``keep_going``; with ``dry_run``
        none. Raises ``Unavailable``."""
        counts = {"created": 0, "updated": 0, "unchanged": 0}
        problems: list[RowProblem] = []
        written = False
        try:
            async with self.database.write(by=actor) as tx:
                rows = _Rows(tx, self.over(Joined(tx)), actor)
                async for piece in table.pieces():
                    for row in piece:
                        found = await rows.write(row)
                        if isinstance(found, str):
                            counts[found] += 1
                        else:
                            problems += found
                    progress("written", sum(counts.values()) + len(problems), None)
                if dry_run or (problems and not keep_going):
                    raise _Undone
                written = True
        except _Undone:
            pass
        bad = len({problem.line for problem in problems})
        total = sum(counts.values()) + bad
        return Imported(total=total, **counts, problems=tuple(problems), written=written)


class _Undone(Exception):
    """Leaves the transaction without writing."""


class _Rows:
    def __init__(self, tx: TransferTransaction, profiles: Profiles, actor: Actor) -> None:
        self._tx = tx
        self._profiles = profiles
        self._actor = actor
        self._named: dict[str, dict[str, list[str]]] = {}
        self._lines: dict[tuple[str, str], int] = {}

    async def write(self, row: Row | RowProblem) -> str | list[RowProblem]:
        """``created``, ``updated`` or ``unchanged``; or the problems of the row."""
        if isinstance(row, RowProblem):
            return [row]
        try:
            return await self._write(row)
        except Unavailable:
            raise
        except PhoneprovError as error:
            return problems_of(row.line, error)

    async def _write(self, row: Row) -> str:
        owner = await self._owner(row.cells.get(OWNER, ""))
        values = _values(row.cells)
        name = str(values.get("name", ""))
        earlier = self._lines.setdefault((owner, name), row.line)
        if earlier != row.line:
            raise _wrong("name", f"is on line {earlier} already")
        same = (await self._profiles_of(owner)).get(name, [])
        if len(same) > 1:
            raise Conflict(f"{len(same)} profiles of this user have this name.")
        if not same:
            missing = [key for key in ("name", "cnf_xml") if key not in values]
            if missing:
                raise _wrong(missing[0], "is required")
            await self._profiles.create(self._actor, NewProfile(user_uuid=owner, **values))
            return "created"
        patch = ProfilePatch(**values)
        before = await self._profiles.get(self._actor, same[0])
        if all(getattr(before, key) == getattr(patch, key) for key in values):
            return "unchanged"
        await self._profiles.update(self._actor, before.uuid, patch)
        return "updated"

    async def _owner(self, username: str) -> str:
        if not username:
            raise _wrong(OWNER, "is required")
        user = await self._tx.users.by_username(username)
        if user is None:
            raise _wrong(OWNER, "is the name of no user")
        return str(user.uuid)

    async def _profiles_of(self, owner: str) -> Mapping[str, list[str]]:
        if owner not in self._named:
            names = self._named[owner] = {}
            profiles = await self._profiles.of_user(self._actor, owner)
            async for piece in profiles:
                for profile in piece:
                    names.setdefault(profile.name, []).append(profile.uuid)
        return self._named[owner]


def _values(cells: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a profile. An empty cell clears a field that may be empty."""
    values: dict[str, Any] = {}
    for key in PROFILE_COLUMNS[1:]:
        cell = cells.get(key)
        if cell is None or (not cell and key in {"name", "cnf_xml"}):
            continue
        if key == "compatible_models":
            values[key] = tuple(part for part in re.split(r"\s*[;,]\s*", cell.strip()) if part)
        elif key == "software_type":
            values[key] = cell.strip().upper() or None
        else:
            values[key] = cell or None
    if (family := values.get("software_type")) is not None and family not in FAMILIES:
        raise _wrong("software_type", f"must be {', '.join(FAMILIES)} or empty")
    return values


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(f"The field {field} {message}.", problems=(Problem(field, message),))
