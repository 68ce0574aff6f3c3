"""Groups of phones: with the same difference, or unfit for the same reason. Their number and their
texts are bounded."""

import hashlib
import re
from dataclasses import dataclass, field

from phoneprov_core.batches.given_names import known_values, named
from phoneprov_core.configuration.comparison import Compare, Comparison
from phoneprov_core.phones.model import Phone
from phoneprov_core.templates.ports import Rendered

MOST_NAMED = 20
"""Maximum number of phones that a group names."""
MOST_GROUPS = 500
"""Maximum number of groups, and of reasons; phones with others are one more."""
LONGEST_DIFF = 16 * 1024
"""Maximum number of characters of a difference that is shown."""
MOST_SHOWN = 1024 * 1024
"""Maximum number of characters of all differences, but for the last one."""
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
    """Phones by the difference between what they run and what they would get."""

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
