"""The dry run: everything that can be known of a switch before anything is touched."""

from __future__ import annotations

import asyncio
from typing import Annotated, NamedTuple

from msgspec import Struct

from phoneprov_core.configuration.comparison import Compare, Comparison
from phoneprov_core.configuration.lint import Finding
from phoneprov_core.deployments.deploy import Deploy, Order, require_fitting
from phoneprov_core.deployments.model import Deployment, Outcome
from phoneprov_core.deployments.ports import DeploymentsTransaction, Reach, Reachability
from phoneprov_core.deployments.switch import order_of
from phoneprov_core.deployments.use_cases import may_see
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.profiles.model import RevisionNumber, Sha256, SwitchRequest
from phoneprov_core.profiles.use_cases import profile_of


class Preview(Struct, frozen=True):
    """What a switch would do, and what stands against it."""

    profile: Annotated[str, schema(description="The profile's name")]
    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    revision: RevisionNumber
    sha256: Sha256
    size: Annotated[int, schema(description="In bytes", minimum=0)]
    filename: Annotated[str, schema(description="What the file would be called on the server")]
    compatible: bool
    objection: Annotated[str, schema(description="Why the switch would be refused")] | None
    on_phone: (
        Annotated[Deployment, schema(description="What is on the phone now, as far as is known")]
        | None
    )
    changed: (
        Annotated[
            bool, schema(description="Whether the file would differ; null when nobody can say")
        ]
        | None
    )
    diff: (
        Annotated[
            str,
            schema(
                description=(
                    "A unified diff from what is on the phone; a secret shows as *** and a "
                    "number that tells it apart"
                )
            ),
        ]
        | None
    )
    diff_note: Annotated[str, schema(description="Why there is no diff")] | None
    needs_reset: Annotated[
        tuple[str, ...],
        schema(
            description=(
                "The changed elements that take effect after a reset only "
                "(PHONEPROV_RESTART_TYPE=reset); empty without a diff"
            )
        ),
    ]
    server: Reach
    phone: Reach
    findings: tuple[Finding, ...]


_UNKNOWN = (
    "The outcome of deployment {number} of this phone is unknown: its file is the one of that "
    "deployment or the one before."
)


class _Before(NamedTuple):
    """What is on the phone: the record if the caller may see it, the configuration if it is
    theirs to see and still kept, and why there is none."""

    deployment: Deployment | None = None
    cnf_xml: str | None = None
    note: str | None = None


class PreviewSwitch:
    """Whoever may switch may ask beforehand."""

    def __init__(
        self,
        open_: ReadAndWrite[DeploymentsTransaction],
        deploy: Deploy,
        reachability: Reachability,
        compare: Compare,
        clock: Clock,
    ) -> None:
        self._open = open_
        self._deploy = deploy
        self._reachability = reachability
        self._compare = compare
        self._clock = clock

    async def __call__(self, actor: Actor, request: SwitchRequest) -> Preview:
        """Touches nothing. Raises ``NotFound`` like the switch; what would make the switch
        fail is part of the answer."""
        order = await order_of(self._open, actor, request)
        before = await self._before(actor, order)
        objection = _objection(order)
        server, phone, compared = await asyncio.gather(
            self._reachability.server(order.phone.phone_ip),
            self._reachability.phone(order.phone),
            self._compare(_comparison(order, before)),
        )
        revision, on_phone = order.revision, before.deployment
        return Preview(
            profile=order.profile.name,
            mac=order.phone.mac,
            revision=revision.number,
            sha256=revision.sha256,
            size=revision.size,
            filename=self._deploy.filename(order.phone),
            compatible=objection is None,
            objection=objection,
            on_phone=on_phone,
            changed=_changed(order, before),
            diff=compared.diff,
            diff_note=before.note,
            needs_reset=compared.needs_reset,
            server=server,
            phone=phone,
            findings=compared.findings,
        )

    async def _before(self, actor: Actor, order: Order) -> _Before:
        async with self._open.read() as tx:
            current = await tx.deployments.current(order.phone.mac)
            if current is None:
                return _Before(note="Nothing was put onto this phone from here before.")
            if not may_see(actor, current):
                return _Before(note="What is on the phone belongs to somebody else.")
            current = current.as_of(shown(self._clock()))
            if current.outcome is Outcome.UNKNOWN:
                return _Before(current, note=_UNKNOWN.format(number=current.number))
            try:
                profile = await profile_of(tx, actor, current.profile_uuid)
            except NotFound:
                return _Before(current, note="The profile that is on the phone is gone.")
            revision = await tx.revisions.find(profile.uuid, current.revision)
            cnf_xml = await tx.revisions.cnf_xml(revision.uuid) if revision else None
        note = None if cnf_xml else "The profile that is on the phone is gone."
        return _Before(current, cnf_xml, note)


def _objection(order: Order) -> str | None:
    try:
        require_fitting(order.profile, order.phone)
    except Conflict as conflict:
        return conflict.message
    return None


def _changed(order: Order, before: _Before) -> bool | None:
    if before.cnf_xml is not None:
        return before.cnf_xml != order.cnf_xml
    deployment = before.deployment
    if deployment is None or deployment.outcome is Outcome.UNKNOWN or deployment.sha256 is None:
        return None
    return deployment.sha256 != order.revision.sha256


def _comparison(order: Order, before: _Before) -> Comparison:
    now = before.deployment
    return Comparison(
        old=before.cnf_xml,
        new=order.cnf_xml,
        old_label="" if now is None else _label("on the phone", now.profile_name, now.revision),
        new_label=_label("the profile", order.profile.name, order.revision.number),
        mac=order.phone.mac,
        family=order.profile.software_type,
    )


def _label(where: str, name: str, revision: int) -> str:
    return f"{where}: {_one_line(name)}, revision {revision}"


def _one_line(name: str) -> str:
    return " ".join(name.split())
