"""The reference of the language lists what the language has."""

import re
from pathlib import Path

from phoneprov_core.features.templates import model as language

PAGE = (Path(__file__).parents[4] / "docs/reference/templates.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def test_page_lists_every_name_and_filter_with_its_text() -> None:
    expected = {
        **{f"{of}.{name}": text for of, fields in language.OBJECTS.items()
           for name, text in fields.items()},
        **{f"{of}: x.{name}": text for of, fields in language.LISTS.items()
           for name, text in fields.items()},
        **{f"loop.{name}": text for name, text in language.LOOP.items()},
        **language.FILTERS,
    }  # fmt: skip

    rows = dict(ROW.findall(PAGE))

    assert {name: rows.get(name) for name in expected} == expected


def test_page_has_the_bounds() -> None:
    for bound in (language.MOST_NODES, language.DEEPEST_NODE, language.LONGEST_TEXT,
                  language.MOST_ELEMENTS, language.MOST_WORK):  # fmt: skip
        assert f"{bound:,}" in PAGE
