"""No representation of an object contains its secrets."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import get_origin

import msgspec
import pytest
from rich.pretty import pretty_repr

import phoneprov_adapters
import phoneprov_core
import phoneprov_http
from phoneprov_http.console.files import Asset

PLANTED = "planted-4711"
SECRET = {
    *("password", "voicemail_passcode", "cnf_xml", "content", "pin_code", "secret", "secret_keys"),
    *("access_token", "refresh_token", "hash", "fresh_hash", "database_url", "variables"),
}
"""Names of fields that hold secrets."""


def secret_fields(kind: type[msgspec.Struct]) -> set[str]:
    """The fields that hold secrets: texts, not names of columns or whether something is secret."""
    return {
        field.name
        for field in msgspec.structs.fields(kind)
        if field.name in SECRET
        and get_origin(field.type) not in {tuple, frozenset}
        and field.type is not bool
    }


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        # Migrations are scripts for Alembic.
        if ".migrations" not in found.name and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


HOLDERS = sorted(
    {
        kind
        for package in (phoneprov_core, phoneprov_adapters, phoneprov_http)
        for module in modules(package)
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind.__module__.startswith("phoneprov_")
        and SECRET & {*kind.__struct_fields__}
        and secret_fields(kind)
    },
    key=lambda kind: (kind.__module__, kind.__name__),
)


def filled(kind: type[msgspec.Struct]) -> msgspec.Struct:
    """An instance with a secret in each field for secrets."""
    # Types are not checked, and not converted.
    unchecked = msgspec.defstruct(
        kind.__name__, [], bases=(kind,), namespace={"__post_init__": lambda _: None}, frozen=True
    )
    secret = secret_fields(kind)
    return unchecked(
        **{name: PLANTED if name in secret else None for name in kind.__struct_fields__}
    )


@pytest.mark.parametrize("kind", HOLDERS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_secrets_are_in_no_representation(kind: type[msgspec.Struct]) -> None:
    holder = filled(kind)

    assert PLANTED not in repr(holder)
    assert PLANTED not in f"{holder} {[holder]!r} {ValueError(holder)!r}"
    # The content of the console's files is public, and only too long.
    assert kind is Asset or PLANTED not in pretty_repr(holder)


def test_representations_of_every_class_are_found() -> None:
    assert len(HOLDERS) > 25
