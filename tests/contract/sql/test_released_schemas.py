"""The schemas of released versions are kept as SQL: the tests of upgrades begin with them."""

import os
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines.revisions import known, newest
from support.schemas import URLS, schema_file, schema_of_tables

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
RELEASED = {"0100": "0.2.0"}
"""The version that a revision was released with."""


def is_released(revision: str) -> bool:
    return f"## {RELEASED.get(revision)}" in CHANGELOG.read_text("utf-8")


@pytest.mark.parametrize("dialect", URLS)
def test_tables_changed_after_a_release_need_a_revision(dialect: str) -> None:
    """The schema is written when the changelog has the heading of its version, by
    ``make write-docs``. From then on it is fixed."""
    file, made = schema_file(newest(), dialect), schema_of_tables(dialect)
    if not is_released(newest()):
        assert not file.exists(), "the schema of a version is written with its release"
        return
    if os.environ.get("PHONEPROV_WRITE_DOCS") == "1" and not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text(made, "utf-8")

    assert file.exists(), "a release needs its schema: make write-docs"
    assert file.read_text("utf-8") == made, (
        "the tables are not those of the newest revision: add a revision after it"
    )


def test_earlier_revisions_are_released_and_have_their_schema() -> None:
    earlier = [revision for revision in known() if revision != newest()]

    assert [revision for revision in earlier if not is_released(revision)] == []
    assert all(schema_file(revision, dialect).exists() for revision in earlier for dialect in URLS)
