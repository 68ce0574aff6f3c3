"""The people of an act: of the request, or of a table, row by row."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, UnsetType

from phoneprov_core.features.joining.model import MOST_PEOPLE, JoinRequest, LeaveRequest
from phoneprov_core.features.transfer.model import Row, RowProblem, is_note, problems_of, truth
from phoneprov_core.features.transfer.sheets import spoiled, tidied
from phoneprov_core.features.transfer.texts import ReadTable, SentTable
from phoneprov_core.features.transfer.use_cases import wrong_columns
from phoneprov_core.kernel.commands import Command, command_of, invalid, within_item
from phoneprov_core.kernel.errors import Invalid, Problem
from phoneprov_core.kernel.fields import fields_of

_VALUES = "values"
_PREFIX = f"{_VALUES}."


class Listed(Struct, frozen=True):
    """The people of an act. Those of a table have the ``lines`` of their rows; ``wrong`` is what
    makes other rows no people, ``unread`` names the sheets that were not read."""

    people: tuple[Any, ...]
    lines: tuple[int, ...] | None = None
    wrong: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()

    def place(self, at: int) -> str:
        """The position of the person, in a sentence."""
        return f"people[{at}]" if self.lines is None else f"line {self.lines[at]}"

    def problems(self, at: int, problems: Sequence[Problem]) -> list[Problem]:
        """The problems of a person, such as of ``people[2].number`` or ``lines[4].number``."""
        name, number = ("people", at) if self.lines is None else ("lines", self.lines[at])
        return within_item(name, number, problems)


async def listed(
    request: JoinRequest | LeaveRequest,
    table: SentTable | None,
    read: ReadTable,
    command: type[Command],
) -> Listed:
    """The people of the request, of its table, or of the ``table``, each of whom is a ``command``.
    Reads at most one row too many. Raises as ``ReadTable``, ``Invalid`` without people."""
    if not isinstance(request.people, UnsetType):
        return Listed(request.people)
    table = table or read(request.content)
    usual = request.usual if isinstance(request, JoinRequest) else {}
    fields = fields_of(command)
    needed = [field.sent_as for field in fields if field.required]
    known = tuple(field.sent_as for field in fields if field.sent_as != _VALUES)
    further = _PREFIX if len(known) < len(fields) else None
    wrong = [*wrong_columns(await table.columns(), known, needed, further=further)]
    made, lines = list[Any](), list[int]()
    if not wrong:
        async for row in _rows(table):
            if len(made) + len(wrong) == MOST_PEOPLE:
                message = f"The row is one too many: an act has at most {MOST_PEOPLE} people"
                wrong.append(RowProblem(row.line, "", message))
                break
            try:
                if isinstance(row, RowProblem):
                    wrong.append(row)
                else:
                    made.append(command_of(command, _given(row, usual)))
                    lines.append(row.line)
            except Invalid as error:
                wrong += problems_of(row.line, error)
        if not (made or wrong):
            wrong.append(RowProblem(1, "", "The table has no people"))
    problems = [
        within_item("lines", one.line, [Problem(one.field, one.message)])[0] for one in wrong
    ]
    return Listed(tuple(made), tuple(lines), tuple(problems), table.unread)


async def _rows(table: SentTable) -> Any:
    async for piece in table.pieces():
        for row in piece:
            yield row


def _given(row: Row, usual: Mapping[str, object]) -> dict[str, object]:
    cells = {name: cell for name, cell in tidied(row.cells).items() if not is_note(name)}
    if problems := spoiled(cells):
        raise invalid(problems)
    given: dict[str, Any] = {}
    for name, cell in cells.items():
        if cell and name.startswith(_PREFIX):
            given.setdefault(_VALUES, {})[name.removeprefix(_PREFIX)] = cell
        elif cell:
            given[name] = truth(cell) if name in _TRUTHS else cell
    own = {"number", "block"} if "number" in given else set()
    return {**{name: value for name, value in usual.items() if name not in own}, **given}


_TRUTHS = {"is_active", "voicemail", "pin", "switch", "directory"}
