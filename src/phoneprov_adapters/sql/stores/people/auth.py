"""Sessions, counted guesses, the client addresses of logins, and rate limits in SQL."""

from typing import Any

import msgspec
from sqlalchemy import (
    FromClause,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    insert,
    or_,
    select,
    update,
)

from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import insert_into, upsert
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.columns import Fields
from phoneprov_adapters.sql.tables.people import (
    assignments,
    login_addresses,
    login_attempts,
    permissions,
    rates,
    rights,
    sessions,
    users,
)
from phoneprov_core.kernel.ports import Rate, RateStore
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.auth.model import (
    Familiarity,
    LoginAddressStore,
    LoginAttemptStore,
    Principal,
    Session,
    SessionStore,
)
from phoneprov_core.people.throttle import KEPT_UNKNOWN, RECENT, Attempts

_LOCATIONS = msgspec.json.Decoder(tuple[str, ...])
ACCOUNT = (users.c.uuid, permissions.c.level, users.c.username)
RIGHT = (rights.c.right, rights.c.locations)


def with_level(owned: Table) -> FromClause:
    """The rows of a table with their user and the user's level and right."""
    return (
        owned.join(users, users.c.uuid == owned.c.user_uuid)
        .outerjoin(assignments, assignments.c.user_uuid == users.c.uuid)
        .outerjoin(permissions, permissions.c.uuid == assignments.c.perm_uuid)
        .outerjoin(rights, rights.c.user_uuid == users.c.uuid)
    )


def with_right(row: Row) -> list[Any]:
    """The row, its last column, the locations of a right, as a tuple."""
    *others, locations = row
    return [*others, () if locations is None else _LOCATIONS.decode(locations)]


_START = insert(sessions)
_FORGET_EXPIRED = delete(sessions).where(
    sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.expires_at <= bindparam("now")
)
_PRINCIPAL = (
    select(*ACCOUNT, *RIGHT)
    .select_from(with_level(sessions))
    .where(
        sessions.c.uuid == bindparam("session_uuid"),
        sessions.c.expires_at > bindparam("now"),
        users.c.is_active.is_(True),
    )
)


_expires_at = bindparam("wanted_expires_at", type_=sessions.c.expires_at.type)
_REPLACE_TOKEN = (
    update(sessions)
    .where(
        sessions.c.uuid == bindparam("session_uuid"),
        sessions.c.token_id == bindparam("presented"),
        sessions.c.expires_at > bindparam("now"),
    )
    .values(
        token_id=bindparam("successor"),
        previous_token_id=bindparam("presented"),
        exchanged_at=bindparam("now"),
        expires_at=case((sessions.c.ends_at < _expires_at, sessions.c.ends_at), else_=_expires_at),
    )
    .returning(
        select(users.c.is_active).where(users.c.uuid == sessions.c.user_uuid).scalar_subquery()
    )
)
_FIND = select(*Fields(Session, sessions).columns).where(
    sessions.c.uuid == bindparam("session_uuid")
)
_OF_USER = (
    select(*Fields(Session, sessions).columns)
    .where(sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.expires_at > bindparam("now"))
    .order_by(sessions.c.created_at, sessions.c.uuid)
)
_END = (
    delete(sessions).where(sessions.c.uuid == bindparam("session_uuid")).returning(sessions.c.uuid)
)
_END_ALL = (
    delete(sessions)
    .where(sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.uuid != bindparam("besides"))
    .returning(sessions.c.uuid)
)
_END_EVERY = delete(sessions).returning(sessions.c.uuid)


class SqlSessions(SqlQueries, SessionStore):
    """Sessions, one row each; the row of a session that ends is deleted."""

    async def start(self, session: Session) -> None:
        await self._connection.execute(
            _FORGET_EXPIRED, user_uuid=session.user_uuid, now=session.created_at
        )
        await self._connection.fetch_all(_START, **msgspec.structs.asdict(session))

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        row = await self._connection.fetch_one(_PRINCIPAL, session_uuid=session_uuid, now=now)
        return None if row is None else Principal(*with_right(row))

    async def replace_token(
        self, session_uuid: str, token_id: str, successor: str, *, now: int, expires_at: int
    ) -> bool | None:
        row = await self._connection.fetch_alone(
            _REPLACE_TOKEN,
            session_uuid=session_uuid,
            presented=token_id,
            successor=successor,
            now=now,
            wanted_expires_at=expires_at,
        )
        return None if row is None else bool(row[0])

    async def find(self, session_uuid: str) -> Session | None:
        return await self._one(Session, self._held(_FIND), session_uuid=session_uuid)

    async def of_user(self, user_uuid: str, now: int) -> list[Session]:
        return await self._all(Session, _OF_USER, user_uuid=user_uuid, now=now)

    async def end(self, session_uuid: str) -> bool:
        return bool(await self._connection.fetch_all(_END, session_uuid=session_uuid))

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> list[str]:
        return await self._all(str, _END_ALL, user_uuid=user_uuid, besides=besides or "")

    async def end_every(self) -> int:
        return len(await self._connection.fetch_all(_END_EVERY))


_COUNTED = Attempts.__struct_fields__
_SEE_ATTEMPTS = select(*[login_attempts.c[name] for name in _COUNTED]).where(
    login_attempts.c.account_key == bindparam("account_key")
)
_FIND_ATTEMPTS = _SEE_ATTEMPTS.with_for_update()
_CLEAR_ATTEMPTS = delete(login_attempts).where(
    login_attempts.c.account_key == bindparam("account_key")
)
# Skips rows that other transactions hold: two transactions that each hold a row and wait for the
# other's row would deadlock.
_FORGET_OLD_ATTEMPTS = delete(login_attempts).where(
    login_attempts.c.account_key.in_(
        select(login_attempts.c.account_key)
        .where(
            login_attempts.c.last_at < bindparam("before"),
            login_attempts.c.known == 0,
            login_attempts.c.account_key != bindparam("but"),
        )
        .with_for_update(skip_locked=True)
    )
)


_KEEP_COUNT = upsert(login_attempts, ["account_key"], *_COUNTED)
# A row of zeros was created to be locked, and counts no guess.
_counts_nothing = and_(*[login_attempts.c[name] == 0 for name in _COUNTED])
_BEGIN_COUNT = upsert(
    login_attempts, ["account_key"], *_COUNTED, where=lambda _: _counts_nothing
).returning(login_attempts.c.account_key)


def _row_of(key: str, attempts: Attempts) -> dict[str, Any]:
    return {"account_key": key, **msgspec.structs.asdict(attempts)}


class SqlLoginAttempts(SqlQueries, LoginAttemptStore):
    """Counted guesses; old rows of unknown names are deleted when other guesses are counted."""

    async def begin(self, key: str, attempts: Attempts) -> bool:
        return bool(await self._connection.fetch_all(_BEGIN_COUNT, **_row_of(key, attempts)))

    async def seen(self, key: str) -> Attempts | None:
        return await self._one(Attempts, _SEE_ATTEMPTS, account_key=key)

    async def of(self, key: str) -> Attempts:
        # The row must exist to be locked against concurrent guesses for the account. A correct
        # guess may delete it between any two statements.
        while (row := await self._connection.fetch_one(_FIND_ATTEMPTS, account_key=key)) is None:
            await self.begin(key, Attempts())
        return Attempts(*row)

    async def keep(self, key: str, attempts: Attempts) -> None:
        await self._connection.execute(_KEEP_COUNT, **_row_of(key, attempts))
        if attempts.failures == 1:
            await self._connection.execute(
                _FORGET_OLD_ATTEMPTS, before=attempts.last_at - KEPT_UNKNOWN, but=key
            )

    async def clear(self, key: str) -> None:
        await self._connection.execute(_CLEAR_ATTEMPTS, account_key=key)


_recent = login_addresses.c.last_at > bindparam("since")
_from_address = login_addresses.c.address == bindparam("address")
_of_account = and_(
    login_addresses.c.user_uuid == users.c.uuid, users.c.username_key == bindparam("username_key")
)
_ANSWERS: list[Any] = [
    exists().where(_recent, _of_account),
    exists().where(_recent, _from_address),
    exists().where(_recent, _of_account, _from_address),
]
_FAMILIARITY = select(*_ANSWERS)
_FORGET_OLD_ADDRESSES = delete(login_addresses).where(
    login_addresses.c.user_uuid == bindparam("user_uuid"),
    login_addresses.c.last_at <= bindparam("before"),
)
_ADDRESSES_OF_USER = select(login_addresses.c.address).where(
    login_addresses.c.user_uuid == bindparam("user_uuid")
)
_REMEMBER = upsert(login_addresses, ["user_uuid", "address"], "last_at")


class SqlLoginAddresses(SqlQueries, LoginAddressStore):
    """Addresses of logins, one row per account and address."""

    async def familiarity(self, username: str, address: str, since: int) -> Familiarity:
        # PostgreSQL refuses NUL in text, also in parameters of comparisons.
        name = "" if "\0" in username else caseless(username)
        row = await self._connection.fetch_one(
            _FAMILIARITY, username_key=name, address=address, since=since
        )
        return Familiarity() if row is None else Familiarity(*map(bool, row))

    async def of_user(self, user_uuid: str) -> list[str]:
        return await self._all(str, _ADDRESSES_OF_USER, user_uuid=user_uuid)

    async def remember(self, user_uuid: str, address: str, now: int) -> None:
        await self._connection.execute(
            _FORGET_OLD_ADDRESSES, user_uuid=user_uuid, before=now - RECENT
        )
        row = {"user_uuid": user_uuid, "address": address, "last_at": now}
        await self._connection.fetch_all(_REMEMBER, **row)


_DAY = 24 * 3600 * 1000

_FIRST_AT = select(rates.c.first_at).where(rates.c.subject == bindparam("subject"))
_TAKE_BACK = (
    update(rates)
    .where(rates.c.subject == bindparam("the_subject"), rates.c.events > 0)
    .values(events=rates.c.events - 1)
)
# Skips rows that other transactions hold: two transactions that delete old rows could deadlock.
_FORGET_OLD_RATES = delete(rates).where(
    rates.c.subject.in_(
        select(rates.c.subject)
        .where(rates.c.first_at < bindparam("before"))
        .limit(100)
        .with_for_update(skip_locked=True)
    )
)
_row = insert_into(rates)
_first = rates.c.first_at
_window = bindparam("window", type_=_first.type)
_over = or_(_first <= _row.excluded.first_at - _window, _first > _row.excluded.first_at + _window)
_counted = and_(_row.excluded["items"] != "", rates.c["items"].contains(_row.excluded["items"]))
_ADD = _row.on_conflict_do_update(
    index_elements=["subject"],
    set_={
        "first_at": case((_over, _row.excluded.first_at), else_=_first),
        "events": case((_over, 1), (_counted, rates.c.events), else_=rates.c.events + 1),
        "items": case(
            (_over, _row.excluded["items"]),
            (_counted, rates.c["items"]),
            else_=rates.c["items"] + _row.excluded["items"],
        ),
    },
    where=or_(_over, _counted, rates.c.events < bindparam("most", type_=rates.c.events.type)),
).returning(rates.c.events)


class SqlRates(SqlQueries, RateStore):
    """Rates, one row per subject. ``items`` is the concatenation of the items."""

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        if not rate.most:
            return 0
        rows = await self._connection.fetch_all(
            _ADD,
            subject=subject,
            first_at=now,
            events=1,
            items=item,
            window=rate.window,
            most=2**31 - 1 if force else rate.most,
        )
        if not rows:
            first = await self._connection.fetch_one(_FIRST_AT, subject=subject)
            return max(1, min(rate.window, int(first[0]) + rate.window - now)) if first else 1
        if rows[0][0] == 1:
            await self._connection.execute(_FORGET_OLD_RATES, before=now - _DAY)
        return 0

    async def take_back(self, subject: str) -> None:
        await self._connection.execute(_TAKE_BACK, the_subject=subject)
