"""Profiles: owners and superadmins read and change them."""

import hashlib
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Literal

from msgspec import UNSET
from msgspec.structs import replace

from phoneprov_core.inventory.configuration.well_formed import LARGEST, device_xml_rule
from phoneprov_core.inventory.phones.model import Family
from phoneprov_core.inventory.profiles.model import (
    Content,
    CreateProfile,
    Profile,
    ProfilePatch,
    ProfileRecord,
    Revision,
    from_template,
    whole,
)
from phoneprov_core.inventory.profiles.reading import ProfilesTransaction
from phoneprov_core.kernel.actor import (
    SUPERADMIN,
    Actor,
    may_act_for,
    may_see_people,
    require_owner,
)
from phoneprov_core.kernel.commands import (
    QueryCommand,
    Rules,
    applied,
    obey,
    record_of,
    require_newest,
)
from phoneprov_core.kernel.errors import Conflict, Forbidden, InUse, NotFound, Problem, require
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.ports import Clock, Listing, NewId, Page, ReadAndWrite, listing, selected
from phoneprov_core.kernel.search import ORDER, HasNumber, Query, SearchFields
from phoneprov_core.kernel.values import known_id, timestamp
from phoneprov_core.people.access import visible

NAMED = 5
"""Maximum number of desks that a message names."""

# A profile may have 512 KiB: long lists are read in pieces of few profiles.
PIECE = 16

MOST_PROFILES = 100
"""Maximum number of profiles of a user; 0 for no limit."""

MOST_REVISIONS = 100
"""Maximum number of revisions of a profile, besides needed revisions; 0 for no limit."""


class ProfileDeletion(QueryCommand, frozen=True, kw_only=True):
    """How a profile is deleted."""

    force: Annotated[bool, schema("Delete the profile also if desks have it as their default")] = (
        False
    )


class DefaultOfDesks(InUse):
    """Desks have the profile as their default."""

    usual = (
        "This profile is the default of 00:1B:D4:12:34:56. With force=true it is deleted, and these"
        " phones have no default profile."
    )


class TooManyProfiles(Conflict):
    """The user has the maximum number of profiles."""

    code = "too_many_profiles"
    usual = "This user has 100 profiles, the maximum; delete one, or raise PHONEPROV_MOST_PROFILES."


class TemplateNotShared(Forbidden):
    """Only level 0 makes profiles of the template."""

    code = "template_not_shared"
    usual = "The template office is not shared: only level 0 makes profiles of it."


class ChangedMeanwhile(Conflict):
    """The profile's revision is not the revision that the change is based on."""

    code = "changed_meanwhile"
    usual = "This profile has revision 3, not 2: it was changed meanwhile. Read it again."
    usual_problems = (Problem("revision", "must be 3, the newest"),)


PROFILE_FIELDS = SearchFields(texts=("name",))
ProfileSort = Literal[
    "name", "-name", "software_type", "-software_type", "updated_at", "-updated_at",
    "username", "-username", "number", "-number",
]  # fmt: skip


class ProfileSearch(QueryCommand, frozen=True, kw_only=True):
    """Which profiles a list shows; None of a field means all."""

    q: Query | None = None
    user_uuid: Annotated[Uuid, schema("Only profiles of this user")] | None = None
    software_type: Annotated[Family, schema("Only profiles for this firmware family")] | None = None
    number: HasNumber | None = None
    sort: Annotated[ProfileSort, ORDER] | None = None


@dataclass(frozen=True)
class Profiles:
    """Create, read, change and delete profiles. A save that changes the configuration creates a
    revision; older revisions do not change."""

    database: ReadAndWrite[ProfilesTransaction]
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    largest_xml: int = LARGEST
    most_profiles: int = MOST_PROFILES
    most_revisions: int = MOST_REVISIONS

    @property
    def rules(self) -> Rules:
        """The rules that depend on settings."""
        return {"cnf_xml": device_xml_rule(self.largest_xml)}

    async def all(
        self, actor: Actor, page: Page = None, wanted: ProfileSearch | None = None
    ) -> Listing[Profile]:
        """Every profile, oldest first; without level 0 and without a right only the profiles of the
        caller. A right shows others' profiles without configuration and values; for it a word also
        finds the profiles of a user, and ``username`` and ``number`` sort by the owner."""
        owner = None if may_see_people(actor) else actor.user_uuid
        return (await self._listing(page, owner, wanted)).mapped(partial(_shown_to, actor))

    async def of_user(self, actor: Actor, user_uuid: str, page: Page = None) -> Listing[Profile]:
        """The profiles of one user. Raises ``Forbidden``; ``NotFound`` without the user."""
        owner = known_id(user_uuid)
        if not may_see_people(actor):
            require_owner(actor, owner)
        async with self.database.read() as tx:
            require(await tx.users.find(owner), "user")
        return (await self._listing(page, owner)).mapped(partial(_shown_to, actor))

    async def get(self, actor: Actor, uuid: str) -> Profile:
        """Raises ``NotFound``, also for another user's profile."""
        async with self.database.read() as tx:
            if not may_see_people(actor):
                return await visible(actor, tx.whole_profiles, uuid, "profile")
            profile = require(await tx.whole_profiles.find(known_id(uuid)), "profile")
        return _shown_to(actor, profile)

    async def create(self, actor: Actor, new: CreateProfile) -> Profile:
        """Raises ``Forbidden`` for another user and (code ``template_not_shared``) for a template
        that only level 0 uses; ``NotFound`` without the user or the template;
        ``Conflict`` (``too_many_profiles``) if the user has the maximum of profiles."""
        obey(self.rules, new)
        await self._require_owner(actor, new.user_uuid)
        now = timestamp(self.clock())
        profile = record_of(
            ProfileRecord,
            new,
            uuid=self.new_id(),
            software_type=new.software_type or None,
            created_at=now,
            updated_at=now,
        )
        content = Content(new.cnf_xml or "")
        if new.template is not None:
            content = from_template(new.template, new.values or {})
        async with self.database.write(by=actor) as tx:
            await self._require_room(tx, profile.user_uuid)
            await _require_template(tx, actor, content.template)
            await tx.profiles.add(profile)
            revision = self._revision(actor, profile, 1, content)
            by_level_0 = actor.holds(SUPERADMIN)
            await tx.revisions.add(revision, content.text, by_level_0=by_level_0)
        return whole(profile, content)

    async def update(self, actor: Actor, uuid: str, patch: ProfilePatch) -> Profile:
        """Raises ``NotFound``; ``Forbidden`` if a caller without level 0 would give it to another
        user; ``Conflict`` if that user has the maximum number of profiles, and (code
        ``changed_meanwhile``) if ``revision`` is not the number of the newest revision."""
        async with self.database.read() as tx:
            await visible(actor, tx.profiles, uuid, "profile", is_listed=True)
        if patch.user_uuid is not UNSET:
            await self._require_owner(actor, patch.user_uuid)
        obey(self.rules, patch)
        async with self.database.write(by=actor) as tx:
            before = await visible(actor, tx.profiles, uuid, "profile", is_listed=True)
            if patch.user_uuid is not UNSET and patch.user_uuid != before.user_uuid:
                await self._require_room(tx, patch.user_uuid)
            newest = require(await tx.revisions.newest(before.uuid), "profile")
            require_newest(newest.number, patch.revision, "profile", ChangedMeanwhile)
            content = require(await tx.revisions.content(newest.uuid), "profile")
            given = dict.fromkeys(("cnf_xml", "revision", "template", "values"), UNSET)
            stored = replace(patch, **given)
            profile = applied(before, stored, updated_at=timestamp(self.clock()))
            await tx.profiles.put(profile)
            if profile.user_uuid != before.user_uuid:
                await tx.desk_uses.end_lines(before.user_uuid, profile.uuid)
            before_it, content = content, patch.content(content)
            if (content.text, content.template) != (before_it.text, before_it.template):
                is_same = content.template is not None and content.template == before_it.template
                await _require_template(tx, actor, content.template, is_kept=is_same)
                revision = self._revision(actor, profile, newest.number + 1, content)
                by_level_0 = actor.holds(SUPERADMIN) or (is_same and before_it.by_level_0)
                await tx.revisions.add(revision, content.text, by_level_0=by_level_0)
                if self.most_revisions:
                    await tx.revisions.remove_oldest(profile.uuid, self.most_revisions)
        return whole(profile, content)

    async def delete(
        self, actor: Actor, uuid: str, deletion: ProfileDeletion | None = None
    ) -> None:
        """Delete the profile and its revisions. Raises ``NotFound``; ``DefaultOfDesks`` without
        ``force`` if it is the default profile of desks."""
        async with self.database.write(by=actor) as tx:
            profile = await visible(actor, tx.profiles, uuid, "profile", is_listed=True)
            macs = await tx.desk_uses.with_default(profile.uuid)
            if macs and not (deletion and deletion.force):
                more = f" and {len(macs) - NAMED} more" if len(macs) > NAMED else ""
                raise DefaultOfDesks(
                    f"This profile is the default of {', '.join(macs[:NAMED])}{more}."
                    " With force=true it is deleted, and these phones have no default profile."
                )
            await tx.profiles.remove(profile.uuid)
            await tx.desk_uses.end_lines(profile.user_uuid, profile.uuid)

    async def revisions(self, actor: Actor, uuid: str, page: Page = None) -> Listing[Revision]:
        """The revisions of a profile, oldest first, without configurations. Raises ``NotFound``."""
        async with self.database.read() as tx:
            profile = await visible(actor, tx.profiles, uuid, "profile", is_listed=True)
        return await listing(self.database.read, lambda tx: tx.revisions, page, owner=profile.uuid)

    async def _require_owner(self, actor: Actor, user_uuid: str) -> None:
        require_owner(actor, user_uuid)
        async with self.database.read() as tx:
            require(await tx.users.find(user_uuid), "user")

    async def _require_room(self, tx: ProfilesTransaction, owner: str) -> None:
        if not self.most_profiles:
            return
        require(
            await tx.users.find(owner), "user"
        )  # Locks the user: of two concurrent requests one waits here.
        if await tx.profiles.count(owner) >= self.most_profiles:
            raise TooManyProfiles(
                f"This user has {self.most_profiles} profiles, the maximum; delete one, or raise "
                "PHONEPROV_MOST_PROFILES."
            )

    def _revision(
        self, actor: Actor, profile: ProfileRecord, number: int, made: Content
    ) -> Revision:
        content = made.text.encode()
        return Revision(
            uuid=self.new_id(),
            profile_uuid=profile.uuid,
            number=number,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            created_at=profile.updated_at,
            created_by=actor.user_uuid,
            template=made.template,
        )

    async def _listing(
        self, page: Page, owner: str | None, wanted: ProfileSearch | None = None
    ) -> Listing[Profile]:
        return await listing(
            self.database.read,
            lambda tx: selected(tx.whole_profiles, wanted, people=owner is None),
            page,
            owner=owner,
            piece=PIECE,
        )


def _shown_to(actor: Actor, profile: Profile) -> Profile:
    """The profile, without what is in it if only a right shows it."""
    if may_act_for(actor, profile.user_uuid):
        return profile
    values = UNSET if profile.values is UNSET else None
    return replace(profile, cnf_xml=None, values=values)


async def _require_template(
    tx: ProfilesTransaction, actor: Actor, name: str | None, *, is_kept: bool = False
) -> None:
    """Raises ``NotFound``, and ``TemplateNotShared`` for a user who chooses one that is not."""
    if name is None:
        return
    is_shared = await tx.template_uses.is_shared(name)
    if is_shared is None:
        raise NotFound(f"There is no template {name}.")
    if not (is_kept or actor.holds(SUPERADMIN) or is_shared):
        raise TemplateNotShared(
            f"The template {name} is not shared: only level 0 makes profiles of it."
        )
