"""Profiles in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind, OnRemove, Reference
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.profiles.model import PROFILE_FIELDS, ProfileRecord

PROFILES: Kind[ProfileRecord] = Kind(
    "profile",
    owner="user_uuid",
    search=PROFILE_FIELDS,
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)


class MemoryProfiles(MemoryStore[ProfileRecord]):
    """Profiles, by uuid."""

    kind = PROFILES
