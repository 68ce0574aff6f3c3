"""People who join: account, number, PIN, profile, desk and directory in one act."""

from dataclasses import dataclass

from phoneprov_core.features.desks.model import DeskPatch
from phoneprov_core.features.desks.use_cases import configure
from phoneprov_core.features.joining.acts import Acts, Parts, Phone, Written, called, event, name_of
from phoneprov_core.features.joining.model import (
    ActRefused,
    ActStep,
    Block,
    Joiner,
    JoiningTransaction,
    JoinRequest,
    Moved,
    MovedPerson,
)
from phoneprov_core.features.joining.tables import Listed, listed
from phoneprov_core.features.transfer.texts import ReadTable, SentTable
from phoneprov_core.inventory.extensions import (
    CHAN_PJSIP,
    CHAN_SCCP,
    CHAN_SIP,
    CreateExtension,
    ExtensionPatch,
    KnownNumber,
)
from phoneprov_core.inventory.links import CreateLink
from phoneprov_core.inventory.phones.model import speaks_sip
from phoneprov_core.inventory.profiles.model import CreateProfile
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.commands import obey
from phoneprov_core.kernel.errors import AlreadyExists, Conflict, Invalid, Problem, require
from phoneprov_core.kernel.ports import Clock
from phoneprov_core.kernel.values import caseless, timestamp
from phoneprov_core.people.access import require_login
from phoneprov_core.people.directory.model import CreateCompanyContact
from phoneprov_core.people.users.model import User
from phoneprov_core.people.vendor_users import CreatePin

_MOST_LINKS = 1000
_UNIQUE = ("username", "email", "number", "mac")


@dataclass(frozen=True)
class JoinPeople:
    """People who join; needs level 0."""

    acts: Acts
    clock: Clock
    read: ReadTable

    async def __call__(
        self, actor: Actor, request: JoinRequest, table: SentTable | None = None
    ) -> Moved:
        """Create the records of all people in one transaction, then switch the phones. The people
        are in the ``table``, if it is given.

        A person whose account exists with this e-mail address has joined before and does not
        change. Raises ``ActRefused`` with every problem; nothing is written then. Raises
        ``NeedsLogin`` for a caller with an API token if a PIN is made. Raises as ``ReadTable``.
        """
        require_superadmin(actor)
        given = await listed(request, table, self.read, Joiner)
        people: tuple[Joiner, ...] = given.people
        if any(one.pin for one in people):
            require_login(actor)
        self._check(given)
        pins = [self.acts.parts.new_pin() if one.pin else None for one in people]
        passwords: list[str | None] = [None] * len(people)
        hashes: list[str | None] = ["-" if pin else None for pin in pins]
        if request.dry_run:
            passwords = ["-" if isinstance(one.password, str) else None for one in people]
        else:
            # Hashes take long: they are computed before the transaction begins.
            for at, (one, pin) in enumerate(zip(people, pins, strict=True)):
                if isinstance(one.password, str):
                    passwords[at] = await self.acts.parts.users.hasher.hash(one.password)
                if pin is not None:
                    hashes[at] = await self.acts.parts.pins.hasher.hash_pin(pin)

        async def write(
            tx: JoiningTransaction, parts: Parts, act: str, at: int, joiner: Joiner
        ) -> Written:
            known = await tx.users.by_username(joiner.username)
            if known is not None:
                return await self._again(tx, known, joiner)
            joining = _Joining(tx, parts, actor, joiner, timestamp(self.clock()))
            return await joining.write(act, passwords[at], pins[at], hashes[at])

        return await self.acts(actor, given, write, dry_run=request.dry_run)

    def _check(self, given: Listed) -> None:
        """Raises ``ActRefused`` for people who break a rule of accounts, for two with the same
        name, e-mail address, number or phone, and for rows that are no people."""
        policy, problems = self.acts.parts.users.policy, [*given.wrong]
        seen: dict[tuple[str, str], int] = {}
        for at, one in enumerate(given.people):
            try:
                obey(policy.rules_of_new, one)
                if isinstance(one.password, str):
                    policy.require_own(one.password, one.username, one.email)
            except Invalid as error:
                problems += given.problems(at, error.problems)
            for field in _UNIQUE:
                value = getattr(one, field)
                first = at if value is None else seen.setdefault((field, caseless(value)), at)
                if first != at:
                    message = f"is that of {given.place(first)} too"
                    problems += given.problems(at, [Problem(field, message)])
        if problems:
            raise ActRefused(tuple(problems))

    async def _again(self, tx: JoiningTransaction, user: User, joiner: Joiner) -> Written:
        """Raises ``Conflict`` if the account belongs to another person, or differs."""
        links = await tx.links.extensions.rows(_MOST_LINKS, owner=user.uuid)
        numbers = [one.extension for one in links]
        if caseless(user.email) != caseless(joiner.email):
            raise _refused("username", "is in use by an account with another e-mail address")
        if not user.is_active and joiner.is_active:
            raise _refused("username", "is an inactive account; undo the leave, or activate it")
        if joiner.number is not None and joiner.number not in numbers:
            has = f"the numbers {', '.join(numbers)}" if numbers else "no number"
            raise _refused("number", f"is not that of the account, which exists and has {has}")
        message = "The account exists; nothing changes, and no PIN is made."
        number = joiner.number or next(iter(numbers), None)
        steps = (ActStep("person", "unchanged", message),)
        return Written(MovedPerson(user.username, user.uuid, number, None, steps))


@dataclass
class _Joining:
    """One person who joins."""

    tx: JoiningTransaction
    parts: Parts
    actor: Actor
    joiner: Joiner
    now: str

    async def write(
        self, act: str, password: str | None, pin: str | None, pin_hash: str | None
    ) -> Written:
        joiner, tx, actor = self.joiner, self.tx, self.actor
        user = await self.parts.users.create(actor, joiner, hash_=password)
        noted: dict[str, str | bool | None] = {"username": user.username, "user_uuid": user.uuid}
        can = "a password" if password else "no password"
        steps = [ActStep("account", "done", f"{user.username} is created with {can}.")]
        name = name_of(joiner)
        number = None
        if joiner.number or joiner.block:
            number, extension_uuid, is_reused = await self._number(name, user.uuid)
            link = CreateLink(user_uuid=user.uuid, extension_uuid=extension_uuid)
            await self.parts.links.create(actor, link)
            how = "an inactive extension is active again" if is_reused else "a new extension"
            steps.append(ActStep("number", "done", f"The number is {number}: {how}."))
            noted |= {"number": number, "extension_uuid": extension_uuid, "reused": is_reused}
        if pin is not None:
            await self.parts.pins.save(actor, user.uuid, CreatePin(pin_code=pin), hash_=pin_hash)
            steps.append(ActStep("pin", "done", "A PIN is made; it is shown once."))
        phones: tuple[Phone, ...] = ()
        if joiner.template is not None:
            new = CreateProfile(
                user_uuid=user.uuid, name=name, template=joiner.template, values=joiner.values
            )
            profile = await self.parts.profiles.create(actor, new)
            noted["profile_uuid"] = profile.uuid
            steps.append(
                ActStep("profile", "done", f"The profile {name} is made from {joiner.template}.")
            )
            if joiner.mac is not None:
                noted |= {"mac": joiner.mac, "default_before": await self._desk(profile.uuid)}
                what = called(await tx.phones.find(joiner.mac), joiner.mac)
                text = f"The desk {what} has the profile {name} as default."
                steps.append(ActStep("desk", "done", text))
                phones = (await self._phone(profile.uuid, what),)
        if joiner.directory:
            contact = await self.parts.company_directory.create(
                actor,
                CreateCompanyContact(
                    name=name, work=number or joiner.phone, email=joiner.email,
                    department=joiner.department, location=joiner.location,
                ),
            )  # fmt: skip
            noted["contact_uuid"] = contact.uuid
            steps.append(ActStep("directory", "done", f"{name} is in the company directory."))
        tx.trail.note(event(act, "joined", noted))
        person = MovedPerson(user.username, user.uuid, number, pin, tuple(steps))
        return Written(person, phones, is_new=True)

    async def _number(self, name: str, user_uuid: str) -> tuple[str, str, bool]:
        """A number for this person only: a new extension, or a free extension with a new
        password."""
        number, known = await self._chosen(user_uuid)
        if known is None:
            new = CreateExtension(
                type=await self._type(CHAN_SCCP), extension=number, name=name,
                password=self.parts.new_password(), voicemail=self.joiner.voicemail,
            )  # fmt: skip
            return number, (await self.parts.extensions.create(self.actor, new)).uuid, False
        # Locks it: of two requests that want this number the second one finds it in use.
        free = require(await self.tx.extensions.find(known.uuid), "extension")
        if not all(one.is_free for one in await self.tx.extensions.between(number, number)):
            problem = Problem("number", "is in use")
            raise AlreadyExists("This number is in use.", problems=(problem,))
        patch = ExtensionPatch(
            type=await self._type(free.type), name=name, password=self.parts.new_password(),
            description=None, voicemail=self.joiner.voicemail, voicemail_passcode=None,
            is_active=True,
        )  # fmt: skip
        await self.parts.extensions.update(self.actor, known.uuid, patch)
        return number, known.uuid, True

    async def _type(self, usual: str) -> str:
        """The requested type, else a type that the phone supports, else the usual type."""
        phone = await self.tx.phones.find(self.joiner.mac or "")
        if self.joiner.extension_type or phone is None:
            return self.joiner.extension_type or usual
        sip, sccp = {CHAN_PJSIP, CHAN_SIP}, {CHAN_SCCP}
        if speaks_sip(phone.software_type):
            return CHAN_PJSIP if usual in sccp else usual
        return CHAN_SCCP if usual in sip else usual

    async def _chosen(self, user_uuid: str) -> tuple[str, KnownNumber | None]:
        """The number that the person gets, and its free extension, if there is one."""
        extensions, wanted = self.tx.extensions, self.joiner.number
        if wanted is not None:
            known = {one.number: one for one in await extensions.between(wanted, wanted)}
            if wanted in known and not known[wanted].is_free:
                raise _refused("number", "is in use")
            namesake = await self.tx.users.by_username(wanted)
            if namesake is not None and namesake.uuid != user_uuid:
                raise _refused("number", "is the username of another person")
            return wanted, known.get(wanted)
        block = Block.of(self.joiner.block or "")
        known = {one.number: one for one in await extensions.between(*block)}
        taken = {one.number for one in known.values() if not one.is_free}
        while number := block.next_free(taken):
            # At a phone, usernames and numbers are entered into the same field.
            if await self.tx.users.by_username(number) is None:
                return number, known.get(number)
            taken.add(number)
        raise _refused("block", "has no free number")

    async def _desk(self, profile_uuid: str) -> str | None:
        """Make the profile the default of the desk. Returns the previous default."""
        mac = self.joiner.mac or ""
        problem = Problem("mac", "is the address of no phone")
        phone = await self.tx.phones.find(mac)
        if phone is None:
            raise Conflict("There is no such phone.", problems=(problem,))
        if not phone.is_active:
            raise _refused("mac", "is an inactive phone")
        before = (await self.tx.desks.find(mac)).default_profile_uuid
        owner = await self._owner_of(before)
        if owner is not None:
            raise _refused("mac", f"is the desk of {owner}")
        try:
            await configure(self.tx, mac, DeskPatch(default_profile_uuid=profile_uuid))
        except Conflict as error:
            raise _refused("template", f"does not fit the phone: {error.message}") from None
        return before

    async def _owner_of(self, profile_uuid: str | None) -> str | None:
        """The active owner of the profile, if the profile has the owner's lines."""
        profile = await self.tx.profiles.find(profile_uuid or "")
        owner = profile and await self.tx.users.find(profile.user_uuid)
        if not owner or not owner.is_active:
            return None
        links = await self.tx.links.extensions.rows(1, owner=owner.uuid)
        return owner.username if links else None

    async def _phone(self, profile_uuid: str, what: str) -> Phone:
        mac = self.joiner.mac or ""
        desk = await self.tx.desks.find(mac)
        if desk.is_used(self.now):
            user = require(await self.tx.users.find(desk.user_uuid or ""), "user")
            message = f"{user.username} is logged in at {what}; the profile follows the logout."
            return Phone(mac, what, why_not=ActStep("phone", "pending", message))
        if not self.joiner.switch:
            message = f"{what} is not switched; the profile follows the next logout or switch."
            return Phone(mac, what, why_not=ActStep("phone", "kept", message))
        return Phone(mac, what, profile_uuid)


def _refused(field: str, message: str) -> Conflict:
    return Conflict(f"The field {field} {message}.", problems=(Problem(field, message),))
