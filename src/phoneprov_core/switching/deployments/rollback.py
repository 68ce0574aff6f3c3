"""Rollback: deploy the previous configuration of a phone again, or any other revision."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.profiles.model import AnyRevision
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import NotFound, Problem, require
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.kernel.values import known_mac
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Action, Deployment, shown_to
from phoneprov_core.switching.deployments.order import (
    DeploymentRequest,
    by_right,
    known_profile,
    load_order,
    require_allowed,
)
from phoneprov_core.switching.deployments.ports import (
    DeploymentsTransaction,
    TemplateSource,
    is_of,
    rollback_target,
)
from phoneprov_core.switching.deployments.steps import Progress, no_progress
from phoneprov_core.switching.deployments.use_cases import sees
from phoneprov_core.switching.errors import RightsChanged


class RollbackRequest(Command, frozen=True, kw_only=True):
    """The revision to deploy again: without a field the previous one of the phone; with
    ``deployment_uuid`` the revision of that deployment; with ``profile_uuid`` and
    ``revision`` the named revision."""

    deployment_uuid: (
        Annotated[Uuid, schema("Restore the revision of this deployment of the phone")] | UnsetType
    ) = UNSET
    profile_uuid: Annotated[Uuid, schema("Restore a revision of this profile")] | UnsetType = UNSET
    revision: AnyRevision | UnsetType = UNSET
    force: Annotated[
        bool,
        schema(
            "Deploy the configuration also if its user lost a number in it or is not active; "
            "level 0 only"
        ),
    ] = False

    JSON_SCHEMA: ClassVar[dict[str, Any]] = {
        "dependentRequired": {"profile_uuid": ["revision"], "revision": ["profile_uuid"]},
        "not": {"required": ["deployment_uuid", "profile_uuid"]},
        "examples": [{"deployment_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"}],
    }

    def problems(self) -> list[Problem]:
        problems = []
        if self.deployment_uuid is not UNSET and self.profile_uuid is not UNSET:
            problems.append(Problem("profile_uuid", "is not allowed with `deployment_uuid`"))
        if self.deployment_uuid is not UNSET and self.revision is not UNSET:
            problems.append(Problem("revision", "is not allowed with `deployment_uuid`"))
        if self.profile_uuid is not UNSET and self.revision is UNSET:
            problems.append(Problem("revision", "is required with `profile_uuid`"))
        if self.revision is not UNSET and self.profile_uuid is UNSET and not problems:
            problems.append(Problem("profile_uuid", "is required with `revision`"))
        return problems


class NotRendered(NotFound):
    """The text of the deployment was removed, because the phone had many others since."""

    usual = "The configuration of that deployment is no longer stored."


@dataclass(frozen=True)
class Rollback:
    """A switch, with all its steps, to an earlier revision."""

    database: ReadAndWrite[DeploymentsTransaction]
    deploy: Deploy

    async def __call__(
        self,
        actor: Actor,
        mac: str,
        request: RollbackRequest | None = None,
        progress: Progress = no_progress,
    ) -> Deployment:
        """Deploy the revision, and return the record after the restart command.

        Requires the permission to switch to the profile. Raises ``NotFound`` if the phone,
        deployment, profile or revision does not exist, and if no earlier deployment exists that the
        caller may deploy again; ``RightsChanged`` if the user of the text lost a number in it or is
        not active, unless a superadmin sends ``force``; also the errors of ``Deploy``.
        """
        request = request or RollbackRequest()
        if request.force:
            require_superadmin(actor)
        order = await self._order(actor, mac, request)
        order = replace(order, checks_rights=not request.force)
        try:
            return shown_to(actor, await self.deploy(actor, order, progress))
        except RightsChanged as error:
            hint = "With force, level 0 deploys it all the same."
            raise RightsChanged(f"{error.message} {hint}") from None

    async def _order(self, actor: Actor, mac: str, request: RollbackRequest) -> DeploymentRequest:
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            if request.profile_uuid is not UNSET and request.revision is not UNSET:
                return await _order_of(tx, actor, phone, request.profile_uuid, request.revision)
            if request.deployment_uuid is UNSET:
                target = await rollback_target(tx.deployments, phone.mac)
                if target is None or not is_of(phone, target):
                    raise _nothing()
                earlier = target
            else:
                earlier = await _of_phone(tx, actor, phone, request.deployment_uuid)
            try:
                order = await order_again(tx, actor, phone, earlier)
                if not is_of(phone, earlier):
                    return order
                return await self.deploy.records.restored(tx, order, earlier)
            except NotRendered:
                raise
            except NotFound:
                if not await sees(tx, actor, earlier):
                    raise _nothing() from None
                raise NotFound(
                    "The profile of that deployment was deleted, or belongs to another user."
                ) from None


async def _of_phone(
    tx: DeploymentsTransaction, actor: Actor, phone: Phone, uuid: str
) -> Deployment:
    deployment = await tx.deployments.find(uuid)
    is_of_phone = deployment is not None and deployment.mac == phone.mac
    if deployment is None or not is_of_phone or not await sees(tx, actor, deployment):
        raise NotFound("There is no such deployment of this phone.")
    return deployment


def _nothing() -> NotFound:
    return NotFound("This phone has no earlier deployment that you may deploy again.")


async def _order_of(
    tx: DeploymentsTransaction, actor: Actor, phone: Phone, profile_uuid: str, number: int
) -> DeploymentRequest:
    profile = await known_profile(tx, actor, profile_uuid)
    is_by_right = by_right(actor, profile, phone)
    order = require(await load_order(tx, Action.ROLLBACK, profile, phone, number), "revision")
    return replace(order, by_right=is_by_right)


async def order_again(
    tx: DeploymentsTransaction, actor: Actor, phone: Phone, earlier: Deployment
) -> DeploymentRequest:
    """The order of the exact text of an earlier deployment. Raises ``NotFound``, and
    ``ProfileNotAllowed`` if its template is not shared any more."""
    if earlier.template_uuid is None:
        return await _order_of(tx, actor, phone, earlier.profile_uuid, earlier.revision)
    profile = await known_profile(tx, actor, earlier.profile_uuid)
    is_by_right = by_right(actor, profile, phone)
    revision = require(await tx.revisions.find(profile.uuid, earlier.revision), "revision")
    content = require(await tx.revisions.content(revision.uuid), "revision")
    await require_allowed(tx.template_uses, content, phone)
    rendered = await tx.renderings.of(earlier)
    if rendered is None:
        raise NotRendered
    revision_then, name = earlier.template_revision or 1, earlier.template_name or ""
    source = TemplateSource(earlier.template_uuid, revision_then, name, rendered)
    return DeploymentRequest(
        Action.ROLLBACK,
        profile,
        revision,
        rendered.text,
        phone,
        source=source,
        by_right=is_by_right,
    )
