"""Tables from the structs of their records."""

from typing import Annotated

import pytest
from msgspec import Struct
from sqlalchemy import MetaData

from phoneprov_adapters.sql.tables import records
from phoneprov_core.kernel.fields import CreatedAt, RecordUuid, schema


class Fan(Struct, frozen=True):
    """A sample record."""

    uuid: RecordUuid
    name: Annotated[str, schema("Its name")] | None
    is_on: bool
    created_at: CreatedAt


@pytest.fixture(autouse=True)
def other_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "metadata", MetaData())


def test_table_of_struct_has_a_column_for_each_field() -> None:
    table = records.table_of(Fan, "fans")

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
        records.table_of(Fan, "fans", **wrong)  # type: ignore[arg-type]
