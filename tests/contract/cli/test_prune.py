"""``phoneprov prune`` on a file."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from phoneprov_http.main.cli import main
from support.data_folder import populate


def test_prune_dry_run_counts_and_prune_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHONEPROV_DATA_DIR", str(tmp_path))
    database = tmp_path / "phoneprov.db"
    populate(tmp_path)
    with closing(sqlite3.connect(database)) as connection, connection:
        for uuid, at in (("old", "2020-01-01T00:00:00.000Z"), ("new", "9999-01-01T00:00:00.000Z")):
            connection.execute(
                "INSERT INTO fetches VALUES (?, NULL, 'x', 'tftp', '10.0.0.1', 'served', 1, 1, ?)",
                (uuid, at),
            )

    dry = CliRunner().invoke(main, ["prune", "--dry-run"])
    assert (dry.exit_code, "Would be removed" in dry.output) == (0, True)
    done = CliRunner().invoke(main, ["prune", "--json"])

    assert done.exit_code == 0, done.output
    counts = {one["kind"]: one["count"] for one in json.loads(done.output)}
    assert counts["fetches"] == 1
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT uuid FROM fetches").fetchall() == [("new",)]
