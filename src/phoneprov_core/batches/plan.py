"""Plans: what a batch would change, in groups of phones with the same difference."""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Struct

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.batches.commands import CreateBatch
from phoneprov_core.batches.loads import LoadFaults, switch_of
from phoneprov_core.batches.model import BatchAction
from phoneprov_core.batches.ports import BatchesTransaction, NoPhones
from phoneprov_core.batches.use_cases import named_macs, require_known, selected
from phoneprov_core.batches.work import is_unchanged, runs
from phoneprov_core.configuration.comparison import Compare, Comparison
from phoneprov_core.configuration.well_formed import fault_in
from phoneprov_core.deployments.deploy import Deploy
from phoneprov_core.deployments.errors import PhoneInactive
from phoneprov_core.deployments.order import require_fitting
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.phones.model import Phone
from phoneprov_core.provisioning.loads import CheckLoad
from phoneprov_core.templates.ports import Mark, Rendered

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
PAUSE_SECONDS = 0.001
"""Seconds after each phone in which other requests are answered."""
_STARS = re.compile(r"\*\*\*[0-9]+")
_SHORTEST = 3
"""Minimum number of characters of a value that is looked for in a text without marks."""


class PlanGroup(Redacted, frozen=True):
    """Phones with the same difference."""

    count: Annotated[int, schema("Number of phones", minimum=1, examples=[118])]
    macs: Annotated[tuple[StoredMac, ...], schema(f"The first {MOST_NAMED} of them")]
    diff: Annotated[
        str,
        SECRET,
        schema(
            "The changed lines without context, secrets masked; what differs from person to person "
            "is replaced by the name of its variable"
        ),
    ]


class PlanProblem(Struct, frozen=True):
    """Phones that the batch would not switch, for the same reason."""

    count: Annotated[int, schema("Number of phones", minimum=1, examples=[2])]
    macs: Annotated[tuple[StoredMac, ...], schema(f"The first {MOST_NAMED} of them")]
    message: Annotated[str, schema("Reason")]


class Plan(Struct, frozen=True):
    """What a batch would change."""

    phones: Annotated[int, schema("All phones of the batch", minimum=1, examples=[200])]
    unchanged: Annotated[int, schema("Phones that have their configuration already")]
    changed: Annotated[int, schema("Phones that are not known to run what they would get")]
    unfit: Annotated[int, schema("Phones that would not be switched")]
    groups: Annotated[tuple[PlanGroup, ...], schema("Groups of equal differences, most first")]
    problems: Annotated[tuple[PlanProblem, ...], schema("Why phones are unfit, most first")]


@dataclass(eq=False)
class _Group:
    what: str
    count: int = 0
    macs: list[str] = field(default_factory=list)

    def add(self, mac: str) -> None:
        self.count += 1
        if len(self.macs) < MOST_NAMED:
            self.macs.append(mac)


@dataclass(frozen=True)
class PlanBatch:
    """The dry run of a batch; it requires level 0, and changes nothing. ``loads`` is None without a
    folder of files."""

    database: ReadAndWrite[BatchesTransaction]
    deploy: Deploy
    compare: Compare
    loads: CheckLoad | None = None

    async def __call__(self, actor: Actor, new: CreateBatch) -> Plan:
        """One phone at a time: memory does not grow with the number of phones. Raises like the
        start of the batch, and ``Unavailable``."""
        require_superadmin(actor)
        run = _Planning(self, new, LoadFaults(self.loads))
        async with self.database.read() as tx:
            await require_known(tx, new)
            unknown = await tx.phones.unknown(named_macs(new))
            if unknown:
                raise NotFound(f"There is no phone {unknown[0]} in the inventory.")
        async for piece in selected(self.database.read, new):
            for target in piece:
                await run.look_at(*target)
                await asyncio.sleep(PAUSE_SECONDS)
        return run.result()


@dataclass(eq=False)
class _Planning:
    plan: PlanBatch
    new: CreateBatch
    loads: LoadFaults
    phones: int = 0
    unchanged: int = 0
    changed: int = 0
    shown: int = 0
    groups: dict[str, _Group] = field(default_factory=dict)
    of_texts: dict[bytes, _Group] = field(default_factory=dict)
    unfit: dict[str, _Group] = field(default_factory=dict)

    async def look_at(self, mac: str, profile_uuid: str | None) -> None:
        """Count one phone."""
        self.phones += 1
        try:
            await self._compare(mac, profile_uuid or self.new.profile_uuid)
        except (Conflict, NotFound) as error:
            # One reason with the name of one phone in it is a reason for each phone.
            reason = error.message.replace(mac, "the phone")
            if reason not in self.unfit and len(self.unfit) >= MOST_GROUPS:
                reason = OTHER_REASONS
            self.unfit.setdefault(reason, _Group(reason)).add(mac)

    async def _compare(self, mac: str, profile_uuid: str | None) -> None:
        """Raises ``Conflict`` and ``NotFound`` if the phone is unfit."""
        old: Rendered | None = Rendered("")
        order, new = None, Rendered("")
        async with self.plan.database.read() as tx:
            phone = await tx.phones.find(mac)
            if phone is None:
                raise NotFound("The phone is no longer in the inventory.")
            if self.new.action == BatchAction.SWITCH.value:
                order, old, in_place = await switch_of(tx, phone, profile_uuid, self.new.revision)
            elif phone.is_active:
                in_place = await tx.deployments.in_place(mac)
            else:
                raise PhoneInactive
        if order is not None:
            require_fitting(order.profile, phone)
            order = await self.plan.deploy.rendered(order)
            fault = await self.loads.of(order.cnf_xml, old)
            if fault is not None:
                raise Conflict(f"{fault} The batch would start no phone.")
            new = order.source.rendered if order.source else Rendered(order.cnf_xml)
        clock = self.plan.deploy.clock
        is_known = runs(in_place, clock)
        has_it = is_known if order is None else is_unchanged(in_place, order, clock)
        if has_it:
            self.unchanged += 1
            return
        self.changed += 1
        if is_known and old is not None and old.text == new.text:
            self._with(OTHER_USER).add(mac)
            return
        await self._group(mac, old, new, known_values(phone, old, new), is_known=is_known)

    async def _group(
        self, mac: str, old: Rendered | None, new: Rendered, known: dict[str, str], *,
        is_known: bool,
    ) -> None:  # fmt: skip
        before, after = named(old, new, known)
        before, after = ("", "") if before == after else (before, after)
        key = hashlib.blake2b(
            b"%d%d\0%b\0%b" % (is_known, old is None, before.encode(), after.encode()),
            digest_size=16,
        ).digest()
        group = self.of_texts.get(key)
        if group is None:
            # Users with another number of lines have other texts, and may have the same difference.
            diff = "" if before == after else await self._diff(old, before, after)
            group = self._with(diff if is_known else NOT_KNOWN + diff)
            if len(self.of_texts) >= MOST_TEXTS:
                self.of_texts.clear()
            self.of_texts[key] = group
        group.add(mac)

    def _with(self, diff: str) -> _Group:
        # Where other lines are between them, two changes are two pieces of a difference, else one.
        key = _numbered(sorted(diff.splitlines(), key=lambda line: line[:1]))
        if key not in self.groups:
            if len(self.groups) >= MOST_GROUPS or self.shown >= MOST_SHOWN:
                key = diff = OTHERS
            else:
                self.shown += len(diff)
        return self.groups.setdefault(key, _Group(diff))

    async def _diff(self, old: Rendered | None, before: str, after: str) -> str:
        compared = await self.plan.compare(
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

    def result(self) -> Plan:
        """Raises ``NoPhones``."""
        if not self.phones:
            raise NoPhones
        return Plan(
            self.phones,
            self.unchanged,
            self.changed,
            sum(group.count for group in self.unfit.values()),
            tuple(PlanGroup(one.count, tuple(one.macs), one.what) for one in _most(self.groups)),
            tuple(PlanProblem(one.count, tuple(one.macs), one.what) for one in _most(self.unfit)),
        )


def _numbered(lines: list[str]) -> str:
    """The lines with secrets numbered from the first in them: the texts may have others above."""
    stars: dict[str, str] = {}
    return _STARS.sub(
        lambda star: stars.setdefault(star[0], f"***{len(stars) + 1}"), "\n".join(lines)
    )


def _most(groups: dict[str, _Group]) -> list[_Group]:
    return sorted(groups.values(), key=lambda group: -group.count)


def known_values(phone: Phone, *texts: Rendered | None) -> dict[str, str]:
    """The values of a phone and its user, with their names: what is replaced in a text without
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
    """Both texts with given values replaced by their names. A value that itself differs between
    the two shows in which of them it is; a text of ``values`` that differs is shown."""
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


def _is_value(mark: Mark) -> bool:
    """Whether it is a text of the profile, which is shown when it changes."""
    return mark.name.startswith("values.")


def _by_value(text: str, known: dict[str, str]) -> str:
    longest_first: Sequence[str] = sorted(known, key=len, reverse=True)
    pattern = "|".join(re.escape(value) for value in longest_first)
    return re.sub(
        rf"(?<![0-9A-Za-z])(?:{pattern})(?![0-9A-Za-z])|(?<=SEP)(?:{pattern})",
        lambda match: f"{{{{ {known[match[0]]} }}}}",
        text,
    )
