"""Which of the names that people get are free once all of them have their new ones."""

from collections.abc import Callable, Iterable, Mapping

Names = Mapping[str, Iterable[str]]
"""The values of each field that no two accounts share, in the form in which they are compared."""


def settled(
    held: Mapping[str, Names], wanted: Mapping[str, Names], clash: Callable[[str, str, str], None]
) -> dict[str, Names]:
    """The accounts of ``wanted`` that can have their names, as if all changed at one moment: a
    name that its holder gives up in the same run is free. ``clash`` is called with each other
    account, the field, and the holder of the name. A name that an account keeps is never lost."""
    left, own = dict(wanted), {uuid: _pairs(names) for uuid, names in held.items()}
    while True:
        taken = {pair: uuid for uuid, pairs in own.items() if uuid not in left for pair in pairs}
        for uuid, names in left.items():
            kept = [pair for pair in _pairs(names) if pair in own.get(uuid, ())]
            taken |= {pair: uuid for pair in kept if pair not in taken}
        lost = []
        for uuid, names in left.items():
            new = [pair for pair in _pairs(names) if pair not in own.get(uuid, ())]
            holder = next(((p[0], taken[p]) for p in new if p in taken), None)
            if holder is None:
                taken |= dict.fromkeys(new, uuid)
            else:
                clash(uuid, *holder)
                lost.append(uuid)
        if not lost:
            return left
        for uuid in lost:
            del left[uuid]


def _pairs(names: Names) -> list[tuple[str, str]]:
    return [(name, value) for name, values in names.items() for value in values]
