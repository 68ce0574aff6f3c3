"""Desks in memory."""

from collections.abc import Iterable
from functools import partial

import msgspec

from phoneprov_adapters.memory.deployments import holder_of
from phoneprov_adapters.memory.kinds import DESKS, PHONES, PROFILES, USERS, VENDOR_PHONES, KeptDesk
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.store import MemoryQueries, MemoryRows, part
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.deployments.ports import DeskUse
from phoneprov_core.desks.model import Desk, DeskRecord, Due, ListedDesk, PhoneState
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.kernel.store import Rows
from phoneprov_core.phones.model import Phone


class MemoryDesks(MemoryQueries, DeskStore):
    """Desks, one record a phone."""

    @property
    def all(self) -> Rows[ListedDesk]:
        def is_used_by(phone: Phone, owner: str | None) -> bool:
            return owner is None or _listed(self._tables, phone).desk.user_uuid == owner

        return MemoryRows(self._tables, PHONES, partial(_listed, self._tables), matches=is_used_by)

    async def find(self, mac: str) -> DeskRecord:
        return part(DeskRecord, self._kept(mac))

    async def at(self, mac: str) -> PhoneState | None:
        phone = self._tables.of(PHONES).get(mac)
        if phone is None:
            return None
        flag = self._tables.of(VENDOR_PHONES).get(mac)
        desk = part(DeskRecord, self._kept(mac))
        user = self._tables.of(USERS).get(desk.user_uuid)
        return PhoneState(phone, None if flag is None else flag.vendor, desk, user)

    async def default_profile(self, mac: str) -> str | None:
        return self._kept(mac).default_profile_uuid

    async def configure(self, mac: str, default_profile_uuid: str | None, *, hotdesk: bool) -> None:
        self._change(self._kept(mac), default_profile_uuid=default_profile_uuid, hotdesk=hotdesk)

    async def take_turn(self, mac: str, turn: int | None) -> bool:
        kept = self._kept(mac)
        if turn is not None and turn != kept.turn:
            return False
        self._change(kept, turn=kept.turn + 1)
        return True

    async def begin_change(self, mac: str, change_uuid: str, user_uuid: str | None) -> None:
        self._change(self._kept(mac), change_uuid=change_uuid, change_user_uuid=user_uuid)

    async def end_change(self, mac: str, change_uuid: str) -> None:
        kept = self._kept(mac)
        if kept.change_uuid == change_uuid:
            self._change(kept, change_uuid=None, change_user_uuid=None)

    async def use(self, mac: str, use: DeskUse, now: str) -> None:
        kept = self._kept(mac)
        since = now if use.user_uuid else None
        self._next_turn(kept, **msgspec.structs.asdict(use), since=since, due=None)

    async def end_user(self, user_uuid: str) -> int:
        return self._end(one for one in self._all() if one.user_uuid == user_uuid)

    async def is_elsewhere(self, user_uuid: str, mac: str) -> bool:
        return any(
            user_uuid in {one.user_uuid, one.change_user_uuid}
            for one in self._all()
            if one.mac != mac
        )

    async def end_elsewhere(self, user_uuid: str, mac: str) -> int:
        used = (one for one in self._all() if one.user_uuid == user_uuid and one.mac != mac)
        return self._end(used)

    async def release(self, mac: str, due: Due) -> bool:
        kept = self._kept(mac)
        return kept.user_uuid is not None and bool(self._end((kept,), due))

    async def expire(self, now: str) -> int:
        over = (one for one in self._all() if one.until is not None and one.until <= now)
        return self._end(over, Due.EXPIRY)

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        found = [
            part(DeskRecord, one)
            for one in self._all()
            if one.not_before <= now_ms and self._is_unsettled(one, now)
        ]
        return found[:limit]

    async def postpone(self, mac: str, until_ms: int) -> None:
        if self._tables.of(DESKS).get(mac) is not None:
            self._change(self._kept(mac), not_before=until_ms)

    async def settle(self, mac: str) -> None:
        if self._tables.of(DESKS).get(mac) is not None:
            changes = {"due": None, "change_uuid": None, "change_user_uuid": None}
            self._change(self._kept(mac), not_before=0, **changes)

    async def remove(self, mac: str) -> bool:
        return self._tables.remove(DESKS, mac)

    def _is_unsettled(self, desk: DeskRecord, now: str) -> bool:
        if desk.due is not None or (desk.until is not None and desk.until <= now):
            return True
        is_held = holder_of(self._tables, desk.mac) == desk.change_uuid
        return desk.change_uuid is not None and not is_held

    def _all(self) -> list[KeptDesk]:
        return list(self._tables.of(DESKS).group(EVERY))

    def _kept(self, mac: str) -> KeptDesk:
        return self._tables.of(DESKS).get(mac) or KeptDesk(mac)

    def _change(self, kept: KeptDesk, **changes: object) -> None:
        self._tables.put(DESKS, msgspec.structs.replace(kept, **changes))

    def _next_turn(self, kept: KeptDesk, **changes: object) -> None:
        self._change(kept, turn=kept.turn + 1, not_before=0, **changes)

    def _end(self, used: Iterable[KeptDesk], due: Due = Due.LOGOUT) -> int:
        ended = list(used)
        for kept in ended:
            unused = dict.fromkeys(("user_uuid", "profile_uuid", "since", "until"))
            self._next_turn(kept, **unused, due=due)
        return len(ended)


def _listed(tables: Tables, phone: Phone) -> ListedDesk:
    record = tables.of(DESKS).get(phone.mac) or KeptDesk(phone.mac)
    user = tables.of(USERS).get(record.user_uuid)
    profiles = tables.of(PROFILES)
    default = profiles.get(record.default_profile_uuid)
    profile = profiles.get(record.profile_uuid)
    desk = Desk(
        mac=phone.mac,
        default_profile_uuid=default.uuid if default else None,
        hotdesk=record.hotdesk,
        user_uuid=user.uuid if user else None,
        username=user.username if user else None,
        profile_uuid=profile.uuid if user and profile else None,
        since=record.since if user else None,
        until=record.until if user else None,
    )
    return ListedDesk(phone.created_at, phone.mac, desk)
