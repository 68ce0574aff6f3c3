"""The dry run: the result of a switch, computed without changing anything."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.inventory.configuration.comparison import Compare, Comparison
from phoneprov_core.inventory.configuration.findings import Finding
from phoneprov_core.inventory.configuration.well_formed import device_xml_rule
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import (
    PreviewRequest,
    ProfileName,
    RevisionNumber,
    Sha256,
    SwitchRequest,
)
from phoneprov_core.kernel.actor import SUPERADMIN, SYSTEM_ACTOR, Actor, require_owner
from phoneprov_core.kernel.commands import obey
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.fields import Size, StoredMac, schema
from phoneprov_core.kernel.ports import Clock, ReadAndWrite
from phoneprov_core.kernel.values import millis, timestamp
from phoneprov_core.people.access import visible
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Deployment, Outcome, may_read, shown_to
from phoneprov_core.switching.deployments.observation import (
    FileState,
    OnServer,
    Reach,
    Reachability,
    label,
    on_server,
)
from phoneprov_core.switching.deployments.order import DeploymentRequest, order_of, require_fitting
from phoneprov_core.switching.deployments.ports import (
    DeploymentsTransaction,
    Rendered,
    deployed_text,
    secrets_of,
)
from phoneprov_core.switching.deployments.use_cases import may_see, sees
from phoneprov_core.switching.devices.ports import ReadsFiles
from phoneprov_core.switching.errors import NO_UPLOAD, NoAddress

_READABLE = "{} of the configuration; null if the caller may not read what is in it"
_DELETED = "The profile that is on the phone was deleted."
_MASKED = "What is masked is not compared: it may differ."


class Preview(Struct, frozen=True):
    """The expected result of a switch, and what prevents it."""

    profile: ProfileName
    mac: StoredMac
    revision: RevisionNumber
    sha256: Annotated[Sha256, schema(_READABLE.format("SHA-256"))] | None
    size: Annotated[Size, schema(_READABLE.format("Number of bytes"))] | None
    filename: Annotated[
        str,
        schema("Name that the file would have on the server", examples=["SEP001BD4123456.cnf.xml"]),
    ]
    compatible: Annotated[bool, schema("Whether the profile fits the phone", examples=[True])]
    objection: Annotated[str, schema("Reason why the switch would be refused")] | None
    on_phone: Annotated[
        Deployment | None,
        schema("Deployment that is on the phone now; null if unknown or not visible to the caller"),
    ]
    changed: Annotated[bool, schema("Whether the file would change; null if unknown")] | None
    diff: (
        Annotated[
            str,
            schema(
                "Unified diff from the configuration on the phone to the new one; secrets "
                "are shown as *** and a number, equal secrets with the same number; without "
                "numbers if the caller may not read both configurations"
            ),
        ]
        | None
    )
    diff_note: Annotated[str, schema("Reason why there is no diff")] | None
    file: Annotated[FileState, schema("The file on the server, compared with the deployed one")]
    file_diff: (
        Annotated[
            str,
            schema(
                "Unified diff from the deployed configuration to the file on the server, which "
                "another program changed; masked like `diff`"
            ),
        ]
        | None
    )
    file_note: Annotated[str, schema("What happens to a changed or missing file")] | None
    needs_reset: Annotated[
        tuple[str, ...],
        schema(
            "The changed elements that take effect after a reset only "
            "(PHONEPROV_RESTART_TYPE=reset); empty without a diff"
        ),
    ]
    server: Annotated[Reach, schema("Whether the login on the server succeeds")]
    phone: Annotated[Reach, schema("Whether the phone responds with its own MAC address")]
    findings: Annotated[tuple[Finding, ...], schema("Findings in the configuration")]


_UNKNOWN = (
    "The outcome of deployment {number} of this phone is unknown: the file is from that "
    "deployment or from the deployment before it."
)

_HIDDEN = "The right helpdesk does not read configurations."

_NOT_ASKED = Reach(None, "Not asked for a text that is not saved.", 0)


class _Before(NamedTuple):
    """The current deployment of the phone: the record if the caller may see it, the configuration
    if the caller may see it and it is still stored, and the reason if there is none. ``may_read``
    is whether the caller may read this configuration."""

    deployment: Deployment | None = None
    text: Rendered | None = None
    note: str | None = None
    may_read: bool = False


Foresee = Callable[[DeploymentRequest], Awaitable[Sequence[Finding]]]
"""Port: further findings about a switch, before it is carried out."""


@dataclass(frozen=True)
class PreviewSwitch:
    """The dry run of a switch. It requires the same permission as the switch."""

    database: ReadAndWrite[DeploymentsTransaction]
    deploy: Deploy
    reachability: Reachability
    compare: Compare
    clock: Clock
    foresee: tuple[Foresee, ...] = ()

    async def __call__(self, actor: Actor, request: SwitchRequest) -> Preview:
        """Changes nothing. A right shows no configuration, and allows no text that is typed. Raises
        ``NotFound`` and ``Forbidden`` like the switch and ``TooManyAttempts`` beyond the limits,
        ``Invalid`` for a text that is no configuration, ``Conflict`` for values that no template
        uses, and ``TemplateFails``; reasons for which the switch would fail are part of the result.
        For an unsaved text, neither the server nor the phone is queried, because the text changes
        with each key pressed."""
        order = await order_of(self.database, actor, request)
        if is_typed := isinstance(request, PreviewRequest) and request.is_typed:
            if order.by_right:
                require_owner(actor, order.profile.user_uuid)
            order = self._with_typed(order, request)
        order = await self.deploy.texts(order)
        # Counted for callers that only read, too; the audit trail has no counts.
        async with self.database.write(by=SYSTEM_ACTOR) as tx:
            now = millis(self.clock())
            await self.deploy.records.limits.count(tx.rates, actor, order.phone.mac, now, "preview")
        before = await self._before(actor, order)
        if order.by_right and before.text is not None:
            before = before._replace(text=None, note=_HIDDEN)
        objection = _objection(order)
        is_own_text = order.source is None and not order.by_right
        is_readable = is_own_text or actor.holds(SUPERADMIN)
        is_private = not (is_readable and before.may_read)
        server, phone, compared = await asyncio.gather(
            self._on_server(order, before, is_typed=is_typed),
            _not_asked() if is_typed else self.reachability.phone(order.phone),
            self.compare(_comparison(order, before, is_private=is_private)),
        )
        foreseen = [one for foresee in self.foresee for one in await foresee(order)]
        content, on_phone = order.cnf_xml.encode(), before.deployment
        changed = _changed(order, before)
        if is_private:
            changed = True if compared.diff else None
        return Preview(
            profile=order.profile.name,
            mac=order.phone.mac,
            revision=order.revision.number,
            sha256=hashlib.sha256(content).hexdigest() if is_readable else None,
            size=len(content) if is_readable else None,
            filename=self.deploy.filename(order.phone),
            compatible=objection is None,
            objection=objection,
            on_phone=on_phone and shown_to(actor, on_phone),
            changed=changed,
            diff=compared.diff,
            diff_note=_MASKED if is_private and compared.diff == "" else before.note,
            file=server.file,
            file_diff=server.diff,
            file_note=server.note,
            needs_reset=compared.needs_reset,
            server=server.reach,
            phone=phone,
            findings=(*foreseen, *(() if order.by_right else compared.findings)),
        )

    def _with_typed(self, order: DeploymentRequest, typed: PreviewRequest) -> DeploymentRequest:
        """The order with the typed text or values instead of the stored ones."""
        if typed.cnf_xml is not None:
            obey({"cnf_xml": device_xml_rule(self.deploy.texts.largest)}, typed)
            return replace(order, cnf_xml=typed.cnf_xml, parts=())
        with_values = self.deploy.texts.with_values(order, typed.values or {})
        if with_values is None:
            raise Conflict("The profile has no template that could use values.")
        return with_values

    async def _on_server(
        self, order: DeploymentRequest, before: _Before, *, is_typed: bool
    ) -> OnServer:
        if is_typed:
            return OnServer(_NOT_ASKED)
        async with self.database.read() as tx:
            in_place = await tx.deployments.in_place(order.phone.mac)
        if self._is_unconfirmed_server(order.phone):
            return OnServer(Reach(None, NO_UPLOAD, 0))
        limit, ip = self.deploy.texts.largest, order.phone.login_ip
        current = before.deployment
        is_shown = before.may_read and in_place and current and current.uuid == in_place.uuid
        text = before.text if is_shown else None
        return await on_server(self.reachability, self.compare, ip, in_place, text, limit)

    def _is_unconfirmed_server(self, phone: Phone) -> bool:
        """Whether the phone is its own FTP server, at an address that level 0 has not confirmed."""
        uploader = self.deploy.uploader
        if phone.phone_ip == phone.login_ip or not isinstance(uploader, ReadsFiles):
            return False
        try:
            uploader.server_of(None)
        except NoAddress:
            return True
        return False

    async def _before(self, actor: Actor, order: DeploymentRequest) -> _Before:
        async with self.database.read() as tx:
            current = await tx.deployments.current(order.phone.mac)
            if current is None:
                return _Before(note="No deployment to this phone is recorded.")
            if not await sees(tx, actor, current):
                return _Before(note="The profile that is on the phone belongs to another user.")
            current = current.as_of(timestamp(self.clock()))
            if current.outcome is Outcome.UNKNOWN:
                return _Before(current, note=_UNKNOWN.format(number=current.number))
            if not may_see(actor, current):
                return _Before(current, note=_HIDDEN)
            try:
                await visible(actor, tx.profiles, current.profile_uuid, "profile")
            except NotFound:
                return _Before(current, None, _DELETED, may_read(actor, current))
            text = await deployed_text(tx, current)
        note = None if text else "The configuration that is on the phone is no longer stored."
        return _Before(current, text, note, may_read(actor, current))


async def _not_asked() -> Reach:
    return _NOT_ASKED


def _objection(order: DeploymentRequest) -> str | None:
    try:
        require_fitting(order.profile, order.phone)
    except Conflict as conflict:
        return conflict.message
    return None


def _changed(order: DeploymentRequest, before: _Before) -> bool | None:
    if before.text is not None:
        return before.text.text != order.cnf_xml
    deployment = before.deployment
    if deployment is None or deployment.outcome is Outcome.UNKNOWN:
        return None
    return deployment.sha256 != hashlib.sha256(order.cnf_xml.encode()).hexdigest()


def _comparison(order: DeploymentRequest, before: _Before, *, is_private: bool) -> Comparison:
    now = before.deployment
    return Comparison(
        old=None if before.text is None else before.text.text,
        new=order.cnf_xml,
        old_secrets=secrets_of(before.text),
        new_secrets=secrets_of(order.source.rendered if order.source else None),
        old_label="" if now is None else label("on the phone", now.profile_name, now.revision),
        new_label=label("the profile", order.profile.name, order.revision.number),
        mac=order.phone.mac,
        family=order.profile.software_type,
        is_private=is_private,
    )
