"""Direct access to the database of a service, without HTTP."""

import asyncio
from functools import cache

from sqlalchemy import NullPool, func, select
from sqlalchemy.ext.asyncio import create_async_engine

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.runtime.tasks import random_id, system_clock
from phoneprov_adapters.security.credentials import Argon2Hasher
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.tables.people import assignments
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.access import Assignment, Permission
from phoneprov_core.people.auth.login import new_session, token_pair
from phoneprov_core.people.auth.model import Lifetimes, TokenPair
from phoneprov_core.people.users.model import User
from support.records import a_user

KEY = "the key of all the races of the tests"
PASSWORD = "correct horse battery"


@cache
def password_hash() -> str:
    """The hash of ``PASSWORD``, computed once with the parameters of the service."""
    hasher = Argon2Hasher(SecretKeys.parse(KEY), workers=1)
    try:
        return asyncio.run(hasher.hash(PASSWORD))
    finally:
        hasher.close()


class Direct:
    """Prepares a race and reads its result."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.database = container.database()
        self._tokens = container.tokens()

    async def account(
        self, *, level: int | None = None, is_active: bool = True, username: str | None = None
    ) -> User:
        """Create an account with the password ``PASSWORD``."""
        uuid = random_id()
        name = username or f"user-{uuid}"
        user = a_user(1, uuid=uuid, username=name, email=f"{uuid}@example.com", is_active=is_active)
        await self.put(user, level=level)
        return user

    async def put(self, user: User, *, level: int | None = None) -> None:
        """Store an account with these fields, in any former state."""
        permission = None if level is None else await self.permission(level)
        async with self.database.write() as tx:
            if await tx.users.find(user.uuid) is None:
                await tx.users.add(user)
            else:
                await tx.users.put(user)
            await tx.users.set_password_hash(user.uuid, password_hash())
            if permission is None:
                await tx.assignments.remove(user.uuid)
            else:
                await tx.assignments.assign(
                    Assignment(
                        random_id(),
                        user.uuid,
                        permission.uuid,
                        permission.level,
                        permission.name,
                        timestamp(system_clock()),
                    )
                )

    async def permission(self, level: int) -> Permission:
        """The permission of this level, created if missing."""
        async with self.database.write() as tx:
            for permission in await tx.permissions.rows(1000):
                if permission.level == level:
                    return permission
            permission = Permission(
                random_id(), level, f"level {level}", None, timestamp(system_clock())
            )
            await tx.permissions.add(permission)
            return permission

    async def sessions(self, user_uuid: str, count: int = 1) -> list[TokenPair]:
        """Create ``count`` sessions, as logins do; their tokens."""
        now, lifetimes = system_clock(), Lifetimes()
        opened = [
            new_session(random_id(), user_uuid, random_id(), now, lifetimes) for _ in range(count)
        ]
        async with self.database.write() as tx:
            for session in opened:
                await tx.sessions.start(session)
        return [
            token_pair(
                self._tokens,
                session.uuid,
                user_uuid,
                access_id=random_id(),
                refresh_id=session.token_id,
                now=now,
                lifetimes=lifetimes,
            )
            for session in opened
        ]

    async def holds(self, level: int, user_uuid: str) -> bool:
        """Whether an account exists, is active, and holds a level."""
        rule = self.container.settings().level_rule
        async with self.database.read() as tx:
            user = await tx.users.find(user_uuid)
            assignment = await tx.assignments.of_user(user_uuid)
        active = user is not None and user.is_active
        return active and assignment is not None and rule.holds(assignment.level, level)

    async def assignments_of(self, user_uuid: str) -> int:
        """The number of assignments of a user in the table."""
        engine = create_async_engine(self.container.settings().database_url, poolclass=NullPool)
        statement = select(func.count()).where(assignments.c.user_uuid == user_uuid)
        try:
            async with engine.connect() as connection:
                return int((await connection.execute(statement)).scalar_one())
        finally:
            await engine.dispose()

    async def remove_all_assignments(self) -> None:
        """Remove every assignment."""
        async with self.database.write() as tx:
            last = None
            while users := await tx.users.rows(1000, after=last):
                for last in users:
                    await tx.assignments.remove(last.uuid)
