"""The changes that a batch would make on a phone, without personal values."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.well_formed import fault_in
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.deployments.ports import Rendered, ValuePlace

_SHORTEST = 3
"""Minimum number of characters of a value that is looked for in a text without marks."""


def known_values(phone: Phone, *texts: Rendered | None) -> dict[str, str]:
    """The values of a phone and its user, with their names: they are replaced in a text without
    marks."""
    values = {phone.mac: "phone.mac", phone.mac.replace(":", ""): "phone.hex"}
    for rendered in texts:
        content = rendered.text.encode() if rendered else b""
        for mark in rendered.marks if rendered else ():
            value = content[mark.start : mark.end].decode()
            if (
                len(value) >= _SHORTEST
                and " " not in mark.name
                and not mark.name.startswith("values.")
            ):
                values.setdefault(value, mark.name)
    return values


def named(old: Rendered | None, new: Rendered, known: dict[str, str]) -> tuple[str, str]:
    """Both texts with known values replaced by their names. A value that differs between the texts
    is marked with its side; a text of ``values`` that differs is shown."""
    before, after = old or Rendered(""), new
    was, is_now = _values(before), _values(after)
    both = was.keys() & is_now.keys()
    same = {name for name in both if was[name] == is_now[name]}
    texts = []
    for rendered, side in ((before, "before"), (after, "after")):
        if rendered.marks:
            text = _replaced(rendered, same, both - same, side)
        else:
            text = _by_value(rendered.text, known)
        # A name in a place where XML has no text would make it ill-formed.
        faulty = rendered.text and fault_in(text.encode()) is not None
        texts.append(_without_secrets(rendered) if faulty else text)
    return texts[0], texts[1]


def _without_secrets(rendered: Rendered) -> str:
    """The text with a word for each secret, which may be in the name of an element."""
    content, pieces, done = rendered.text.encode(), [], 0
    words: dict[bytes, bytes] = {}
    for mark in rendered.marks:
        if mark.secret:
            word = words.setdefault(content[mark.start : mark.end], b"secret%d" % len(words))
            pieces += [content[done : mark.start], word]
            done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _values(rendered: Rendered) -> dict[str, list[bytes]]:
    content = rendered.text.encode()
    values: dict[str, list[bytes]] = {}
    for mark in rendered.marks:
        found = values.setdefault(mark.name, [])
        value = content[mark.start : mark.end]
        if value not in found:
            found.append(value)
    return values


def _replaced(rendered: Rendered, same: set[str], differ: set[str], side: str) -> str:
    content, pieces, done = rendered.text.encode(), [], 0
    for mark in rendered.marks:
        pieces.append(content[done : mark.start])
        if mark.name in differ and (mark.secret or not _is_value(mark)):
            pieces.append(f"{{{{ {mark.name}, {side} }}}}".encode())
        elif mark.name in same or mark.secret or not _is_value(mark):
            pieces.append(f"{{{{ {mark.name} }}}}".encode())
        else:
            pieces.append(content[mark.start : mark.end])
        done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _is_value(mark: ValuePlace) -> bool:
    """Whether this is a text of the profile; a changed text is shown."""
    return mark.name.startswith("values.")


def _by_value(text: str, known: dict[str, str]) -> str:
    longest_first: Sequence[str] = sorted(known, key=len, reverse=True)
    pattern = "|".join(re.escape(value) for value in longest_first)
    return re.sub(
        rf"(?<![0-9A-Za-z])(?:{pattern})(?![0-9A-Za-z])|(?<=SEP)(?:{pattern})",
        lambda match: f"{{{{ {known[match[0]]} }}}}",
        text,
    )


MOST_NAMED = 20
"""Maximum number of phones that a group names."""

MOST_GROUPS = 500
"""Maximum number of groups, and of reasons; all other phones form one more group."""

LONGEST_DIFF = 16 * 1024
"""Maximum number of characters of a difference that is shown."""

MOST_SHOWN = 1024 * 1024
"""Maximum number of characters of all differences except the last."""

MOST_TEXTS = 4096
"""Maximum number of pairs of texts whose group is remembered; others are compared again."""

OTHERS = "Other differences.\n"
OTHER_REASONS = "Other reasons."
NOT_KNOWN = (
    "What these phones run is not known: nothing was deployed to them, or they were not seen to "
    "restart with it.\n"
)
OTHER_USER = "These phones would belong to another user, with the configuration that they have.\n"
_STARS = re.compile(r"\*\*\*[0-9]+")


@dataclass(eq=False)
class Group:
    """Phones with something in common."""

    what: str
    count: int = 0
    macs: list[str] = field(default_factory=list)

    def add(self, mac: str) -> None:
        """Count a phone."""
        self.count += 1
        if len(self.macs) < MOST_NAMED:
            self.macs.append(mac)


class Reasons:
    """Phones by the reason for which they are unfit."""

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}

    def add(self, mac: str, reason: str) -> None:
        """Count a phone."""
        # One reason with the name of one phone in it is a reason for each phone.
        reason = reason.replace(mac, "the phone")
        if reason not in self._groups and len(self._groups) >= MOST_GROUPS:
            reason = OTHER_REASONS
        self._groups.setdefault(reason, Group(reason)).add(mac)

    def most_first(self) -> list[Group]:
        """The groups."""
        return _most(self._groups)


class Differences:
    """Phones grouped by the difference between their current and their new configuration."""

    def __init__(self, compare: Compare) -> None:
        self._compare = compare
        self._groups: dict[str, Group] = {}
        self._of_texts: dict[bytes, Group] = {}
        self._shown = 0

    async def add(
        self, phone: Phone, old: Rendered | None, new: Rendered, *, is_known: bool
    ) -> None:
        """Count a phone. ``is_known`` is whether it is known to run the old text. Raises
        ``Unavailable``."""
        if is_known and old is not None and old.text == new.text:
            self._with(OTHER_USER).add(phone.mac)
            return
        before, after = named(old, new, known_values(phone, old, new))
        before, after = ("", "") if before == after else (before, after)
        key = hashlib.blake2b(
            b"%d%d\0%b\0%b" % (is_known, old is None, before.encode(), after.encode()),
            digest_size=16,
        ).digest()
        group = self._of_texts.get(key)
        if group is None:
            # Users with another number of lines have other texts, and may have the same difference.
            diff = "" if before == after else await self._diff(old, before, after)
            group = self._with(diff if is_known else NOT_KNOWN + diff)
            if len(self._of_texts) >= MOST_TEXTS:
                self._of_texts.clear()
            self._of_texts[key] = group
        group.add(phone.mac)

    def _with(self, diff: str) -> Group:
        # Where other lines are between them, two changes are two pieces of a difference, else one.
        key = _numbered(sorted(diff.splitlines(), key=lambda line: line[:1]))
        if key not in self._groups:
            if len(self._groups) >= MOST_GROUPS or self._shown >= MOST_SHOWN:
                key = diff = OTHERS
            else:
                self._shown += len(diff)
        return self._groups.setdefault(key, Group(diff))

    async def _diff(self, old: Rendered | None, before: str, after: str) -> str:
        compared = await self._compare(
            Comparison(old="<none/>" if old is None else before, new=after)
        )
        lines = [
            line
            for line in (compared.diff or "").splitlines()[2:]
            if line[:1] in "+-" and line != "-<none/>"
        ]
        text = _numbered([*lines, ""])
        if len(text) > LONGEST_DIFF:
            return text[:LONGEST_DIFF].rpartition("\n")[0] + "\n...\n"
        return text

    def most_first(self) -> list[Group]:
        """The groups."""
        return _most(self._groups)


def _numbered(lines: list[str]) -> str:
    """The lines with secrets numbered from the first in them: the texts may have others above."""
    stars: dict[str, str] = {}
    return _STARS.sub(
        lambda star: stars.setdefault(star[0], f"***{len(stars) + 1}"), "\n".join(lines)
    )


def _most(groups: dict[str, Group]) -> list[Group]:
    return sorted(groups.values(), key=lambda group: -group.count)
