"""The peer's models of the service's tables."""

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    type_annotation_map = {int: BigInteger}


class Permission(Base):
    __tablename__ = "permissions"

    uuid: Mapped[str] = mapped_column(primary_key=True)
    level: Mapped[int]
    name: Mapped[str]


class Assignment(Base):
    __tablename__ = "assignments"

    uuid: Mapped[str] = mapped_column(primary_key=True)
    user_uuid: Mapped[str] = mapped_column(ForeignKey("users.uuid"))
    perm_uuid: Mapped[str] = mapped_column(ForeignKey("permissions.uuid"))
    permission: Mapped[Permission] = relationship(lazy="joined")


class User(Base):
    __tablename__ = "users"

    uuid: Mapped[str] = mapped_column(primary_key=True)
    first_name: Mapped[str]
    last_name: Mapped[str]
    username: Mapped[str]
    email: Mapped[str]
    phone: Mapped[str | None]
    lang: Mapped[str]
    location: Mapped[str | None]
    nationality: Mapped[str | None]
    timezone: Mapped[str]
    is_active: Mapped[bool]
    last_uuid: Mapped[str | None]
    last_login_ip: Mapped[str | None]
    last_logout_ip: Mapped[str | None]
    last_login_at: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]
    created_by: Mapped[str | None]
    created_ip: Mapped[str]
    updated_ip: Mapped[str]
    username_key: Mapped[str]
    email_key: Mapped[str]
    assignment: Mapped[Assignment | None] = relationship(lazy="raise", uselist=False)


class Password(Base):
    __tablename__ = "passwords"

    user_uuid: Mapped[str] = mapped_column(ForeignKey("users.uuid"), primary_key=True)
    hash: Mapped[str]


class Session(Base):
    __tablename__ = "sessions"

    uuid: Mapped[str] = mapped_column(primary_key=True)
    user_uuid: Mapped[str] = mapped_column(ForeignKey("users.uuid"))
    token_id: Mapped[str]
    previous_token_id: Mapped[str | None]
    exchanged_at: Mapped[int]
    created_at: Mapped[int]
    expires_at: Mapped[int]
    ends_at: Mapped[int]


class Phone(Base):
    __tablename__ = "phones"

    mac: Mapped[str] = mapped_column(primary_key=True)
    brand: Mapped[str | None]
    model: Mapped[str | None]
    description: Mapped[str | None]
    name: Mapped[str | None]
    hostname: Mapped[str | None]
    location: Mapped[str | None]
    phone_ip: Mapped[str | None]
    phone_vlan: Mapped[str | None]
    software_version: Mapped[str | None]
    software_type: Mapped[str | None]
    is_active: Mapped[bool]
    created_at: Mapped[str]
    updated_at: Mapped[str]
    address_confirmed: Mapped[bool] = mapped_column(default=False)
    adopted_with_pin: Mapped[bool] = mapped_column(default=False)
    search: Mapped[str]


class AuditEntry(Base):
    __tablename__ = "audit"

    uuid: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[str]
    actor_uuid: Mapped[str | None]
    actor: Mapped[str | None]
    client_ip: Mapped[str | None]
    request_id: Mapped[str | None]
    action: Mapped[str]
    resource: Mapped[str]
    resource_id: Mapped[str | None]
    changes: Mapped[str]
