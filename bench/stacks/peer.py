"""The peer: the same work with common means. FastAPI, pydantic models, one ORM session per request,
the caller read by the ORM on each request, tokens checked by PyJWT."""

import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

import argon2
import jwt
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import joinedload

from bench.stacks.models import AuditEntry, Password, Phone, Session, User
from phoneprov_adapters.security.keys import SecretKeys

_key = SecretKeys.parse(os.environ["PHONEPROV_SECRET_KEYS"]).current
_audiences = {"at+jwt": "phoneprov", "rt+jwt": "phoneprov/refresh"}
_IDLE = 14 * 24 * 3600

# No overflow: opening and closing connections would cost more than the queries.
engine = create_async_engine(os.environ["PHONEPROV_DATABASE_URL"], pool_size=10, max_overflow=0)
make_session = async_sessionmaker(engine, expire_on_commit=False)
hasher = argon2.PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
bearer = HTTPBearer()
app = FastAPI()

T = TypeVar("T")


class Envelope(BaseModel, Generic[T]):
    success: bool = True
    message: str
    data: T
    metadata: dict[str, Any] = {}


class UserOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    uuid: str
    first_name: str
    last_name: str
    username: str
    email: str
    phone: str | None
    lang: str
    location: str | None
    nationality: str | None
    timezone: str
    is_active: bool
    last_uuid: str | None
    last_login_ip: str | None
    last_logout_ip: str | None
    last_login_at: str | None
    created_at: str
    updated_at: str
    created_by: str | None
    created_ip: str
    updated_ip: str


class PhoneIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mac: str = Field(pattern=r"^[0-9A-F]{2}(:[0-9A-F]{2}){5}$")
    brand: str | None = Field(default=None, max_length=255)
    model: str | None = Field(default=None, max_length=255)
    description: str | None = Field(default=None, max_length=2048)
    name: str | None = Field(default=None, max_length=255)
    hostname: str | None = Field(default=None, max_length=255)
    location: str | None = Field(default=None, max_length=255)
    phone_ip: str | None = Field(default=None, max_length=45)
    phone_vlan: str | None = Field(default=None, max_length=255)
    software_version: str | None = Field(default=None, max_length=255)
    software_type: str | None = Field(default=None, max_length=255)
    is_active: bool = True


class PhoneOut(PhoneIn):
    model_config = ConfigDict(from_attributes=True)

    created_at: str
    updated_at: str


class Credentials(BaseModel):
    username: str
    password: str


class RefreshRequest(BaseModel):
    refresh_token: str


class Tokens(BaseModel):
    accessToken: str  # noqa: N815 - as it goes over the wire
    refreshToken: str  # noqa: N815


class LoggedIn(Tokens):
    user: UserOut


async def get_session() -> AsyncIterator[AsyncSession]:
    async with make_session() as session:
        yield session


DbSession = Annotated[AsyncSession, Depends(get_session)]


def read_token(token: str, kind: str) -> dict[str, Any]:
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            _key.signing,
            algorithms=["HS256"],
            audience=_audiences[kind],
            issuer="phoneprov",
        )
    except jwt.PyJWTError:
        raise HTTPException(401, "Invalid token") from None
    return claims


def make_token(kind: str, user: str, session: str, token: str, seconds: int) -> str:
    now = int(time.time())
    claims = {"iss": "phoneprov", "aud": _audiences[kind], "sub": user, "sid": session}
    times = {"jti": token, "iat": now, "nbf": now, "exp": now + seconds}
    return jwt.encode(claims | times, _key.signing, "HS256", {"typ": kind, "kid": _key.id})


async def current_user(
    session: DbSession, credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)]
) -> User:
    claims = read_token(credentials.credentials, "at+jwt")
    user = await session.scalar(
        select(User)
        .options(joinedload(User.assignment))
        .join(Session, Session.user_uuid == User.uuid)
        .where(Session.uuid == claims["sid"], Session.expires_at > time.time() * 1000)
    )
    if user is None or not user.is_active:
        raise HTTPException(401, "Invalid session")
    return user


def superadmin(user: Annotated[User, Depends(current_user)]) -> User:
    if user.assignment is None or user.assignment.permission.level != 0:
        raise HTTPException(403, "Forbidden")
    return user


Superadmin = Annotated[User, Depends(superadmin)]


@app.get("/health/ready")
async def ready() -> dict[str, Any]:
    return {}


@app.get("/api/v1/users/{uuid}", response_model=Envelope[UserOut])
async def read_user(uuid: str, session: DbSession, _: Superadmin) -> Any:
    user = await session.get(User, uuid)
    if user is None:
        raise HTTPException(404, "Not found")
    return {"message": "User found", "data": user}


@app.get("/api/v1/users", response_model=Envelope[list[UserOut]])
async def list_users(session: DbSession, _: Superadmin) -> Any:
    users = (await session.scalars(select(User).order_by(User.created_at, User.uuid))).all()
    return {"message": f"{len(users)} user(s) found", "data": users}


@app.post("/api/v1/phones", response_model=Envelope[PhoneOut], status_code=201)
async def create_phone(
    sent: PhoneIn, session: DbSession, user: Superadmin, request: Request
) -> Any:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    words = (sent.mac, sent.brand, sent.model, sent.name, sent.location, sent.phone_ip)
    search = " ".join(word for word in words if word).casefold()
    phone = Phone(**sent.model_dump(), search=search, created_at=now, updated_at=now)
    session.add(phone)
    changes = {
        name: {"old": None, "new": value}
        for name, value in sent.model_dump().items()
        if value is not None
    }
    session.add(
        AuditEntry(
            uuid=str(uuid.uuid4()),
            at=now,
            actor_uuid=user.uuid,
            actor=user.username,
            client_ip=request.client.host if request.client else None,
            request_id=uuid.uuid4().hex,
            action="phone.created",
            resource="phone",
            resource_id=phone.mac,
            changes=json.dumps(changes),
        )
    )
    await session.commit()
    return {"message": "Phone created", "data": phone}


@app.post("/api/v1/auth/login", response_model=Envelope[LoggedIn])
async def log_in(sent: Credentials, session: DbSession) -> Any:
    user = await session.scalar(select(User).where(User.username_key == sent.username.casefold()))
    if user is None or not user.is_active:
        raise HTTPException(401, "Wrong credentials")
    password = await session.get(Password, user.uuid)
    try:
        await run_in_threadpool(hasher.verify, password.hash if password else "", sent.password)
    except argon2.exceptions.Argon2Error:
        raise HTTPException(401, "Wrong credentials") from None
    user.last_login_at = datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    now, opened, token = int(time.time() * 1000), str(uuid.uuid4()), str(uuid.uuid4())
    session.add(
        Session(
            uuid=opened,
            user_uuid=user.uuid,
            token_id=token,
            exchanged_at=now,
            created_at=now,
            expires_at=now + _IDLE * 1000,
            ends_at=now + 90 * 24 * 3600 * 1000,
        )
    )
    await session.commit()
    return {"message": "Login successful", "data": {"user": user, **_pair(user, opened, token)}}


@app.post("/api/v1/auth/refresh", response_model=Envelope[Tokens])
async def refresh(sent: RefreshRequest, session: DbSession) -> Any:
    claims = read_token(sent.refresh_token, "rt+jwt")
    now, token = int(time.time() * 1000), str(uuid.uuid4())
    exchanged = await session.execute(
        update(Session)
        .where(Session.uuid == claims["sid"], Session.token_id == claims["jti"])
        .values(token_id=token, exchanged_at=now, expires_at=now + _IDLE * 1000)
        .execution_options(synchronize_session=False)
    )
    user = await session.get(User, claims["sub"])
    if exchanged.rowcount != 1 or user is None or not user.is_active:  # type: ignore[attr-defined]
        raise HTTPException(401, "Invalid token")
    await session.commit()
    return {"message": "Token refreshed", "data": _pair(user, claims["sid"], token)}


def _pair(user: User, session: str, token: str) -> dict[str, str]:
    return {
        "accessToken": make_token("at+jwt", user.uuid, session, str(uuid.uuid4()), 900),
        "refreshToken": make_token("rt+jwt", user.uuid, session, token, _IDLE),
    }
