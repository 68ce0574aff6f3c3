"""Tables from the structs of their records."""

from enum import Enum
from typing import Annotated

import pytest
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import MetaData

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.stores.store import reader
from phoneprov_adapters.sql.tables import columns
from phoneprov_adapters.sql.tables.columns import Fields, SealedColumn
from phoneprov_core.kernel.fields import CreatedAt, RecordUuid, schema


class Fan(Struct, frozen=True):
    """A sample record."""

    uuid: RecordUuid
    name: Annotated[str, schema("Its name")] | None
    is_on: bool
    created_at: CreatedAt


@pytest.fixture(autouse=True)
def other_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "metadata", MetaData())


def test_table_of_struct_has_a_column_for_each_field() -> None:
    table = columns.table_of(Fan, "fans")

    assert [(c.name, str(c.type), c.nullable) for c in table.c] == [
        ("uuid", "VARCHAR(36)", False),
        ("name", "TEXT", True),
        ("is_on", "BOOLEAN", False),
        ("created_at", "VARCHAR(24)", False),
    ]
    assert table.primary_key.columns.keys() == ["uuid"]
    assert [[c.name for c in index.columns] for index in table.indexes] == [["created_at", "uuid"]]


@pytest.mark.parametrize(
    "wrong", [{"unique": "label"}, {"sealed": ["pin"]}, {"owners": {"user_uuid": "users"}}]
)
def test_table_of_field_that_does_not_exist_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(AssertionError, match="not all of these are fields"):
        columns.table_of(Fan, "fans", **wrong)  # type: ignore[arg-type]


class Speed(Enum):
    """A sample enumeration."""

    SLOW = "slow-1"


class Sealed(Struct, frozen=True):
    """A sample record of fields that are converted."""

    uuid: RecordUuid
    speed: Speed | None
    names: tuple[str, ...]
    pin: str | None
    code: str
    sha256: str
    left_out: int = 0


def test_fields_of_record_are_converted_and_read_back_each_with_its_key() -> None:
    table = columns.table_of(
        Sealed, "fans", sealed=("pin", "code", "sha256"), without=("left_out",), listed=False
    )
    fields = Fields(Sealed, table)
    old, new = "o" * 32, "n" * 32
    former, box = SecretBox(SecretKeys.parse(old)), SecretBox(SecretKeys.parse(f"{new},{old}"))
    fan = Sealed("u-1", Speed.SLOW, ("Ada", "Éva"), "", "secret", "ab" * 32)

    row = fields.row(fan, box)
    row |= SealedColumn(table, "code").seal(former, b"secret", "u-1")

    assert (row["speed"], row["names"]) == ("slow-1", '["Ada","Éva"]')
    assert row["pin_key_id"] != row["code_key_id"]
    stored = [row[column.name] for column in fields.columns]
    assert fields.read(stored, box, left_out=7) == replace(fan, left_out=7)
    digest = SealedColumn(table, "sha256")
    hashed = digest.open(box, row["sha256_key_id"], row["sha256_sealed"], "u-1")
    assert hashed == b"\xab" * 32
    empty = replace(fan, speed=None, pin=None)
    stored = [fields.row(empty, box)[column.name] for column in fields.columns]
    assert stored.count(None) == 3
    assert reader(fields, box)(stored) == empty
