"""The page that says what holds the lines: its counts, and the way from a route to its row."""

import os
import re
from itertools import chain
from pathlib import Path

import pytest

from support.weight import ROOT, SRC, files_of, lines

PAGE = ROOT / "docs/decisions/0099-what-holds-the-lines.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROW = re.compile(r"^(\| [^|]+ \| ([^|]+) \| )([\d,]+)( \| [^|]+ \|)$", re.MULTILINE)
STORED = [SRC / "phoneprov_adapters" / name for name in ("sql", "memory", "testing")]


def table_below(heading: str) -> str:
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("subject", "root", "wholes"),
    [
        ("source", SRC, [SRC]),
        ("persistence", SRC, STORED),
        ("tests", ROOT / "tests", [ROOT / "tests"]),
    ],
)
def test_table_names_all_lines_once_and_counts_them(
    subject: str, root: Path, wholes: list[Path]
) -> None:
    table = table_below(f"What holds the lines of {subject}")
    rows = [
        (row, [root / path for path in re.findall("`(.+?)`", row[2])])
        for row in ROW.finditer(table)
    ]
    named = sorted(chain.from_iterable(files_of(path) for _, paths in rows for path in paths))
    assert named == sorted(chain.from_iterable(map(files_of, wholes)))

    written = table
    for row, paths in rows:
        counted, stated = lines(*paths), int(row[3].replace(",", ""))
        written = written.replace(row[0], f"{row[1]}{counted:,}{row[4]}")
        if not os.environ.get("PHONEPROV_WRITE_DOCS"):
            assert abs(stated - counted) <= counted * 0.05, f"{row[2]}: {counted:,} lines"
    if os.environ.get("PHONEPROV_WRITE_DOCS"):
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page.replace(table, written), encoding="utf-8")


def test_each_file_from_a_route_to_its_row_defines_what_an_earlier_one_uses() -> None:
    steps = re.findall(r"^\d\. `(src/.+?)`: `(\w+)`", TEXT, re.MULTILINE)
    assert len(steps) == 5
    earlier = (SRC / "phoneprov_http/app.py").read_text(encoding="utf-8")
    for path, name in steps:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", earlier), name
        assert re.search(rf"^ *(?:class |def )?{name}(?:\(|:$| = )", source, re.MULTILINE), name
        earlier += source
