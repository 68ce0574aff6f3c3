"""The page on settings has the rows of the table: names, defaults, bounds and texts.

With ``PHONEPROV_WRITE_DOCS=1`` the rows are written into the page instead of compared.
"""

import os
import re
from pathlib import Path

import pytest

from phoneprov_adapters.composition.forms import Form
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.composition.table import Setting, declared
from phoneprov_adapters.composition.variables import SettingsError

PAGE = Path(__file__).parents[3] / "docs/reference/settings.md"
SETTINGS = [setting for _, setting in declared()]
BOUNDED = [
    one for one in SETTINGS if re.search(r"whole number|seconds|a port|one of", one.form.words)
]


ROW = re.compile(r"^\| `(\w+)`.*$", re.MULTILINE)
NUMBER = re.compile(r"a (?:whole number|port) from (\d+) to (\d+)")


def row(setting: Setting) -> str:
    mark = " †" if setting.form.is_secret else ""
    value = setting.form.words or "text"
    return f"| `{setting.name}`{mark} | {setting.shown_default} | {value} | {setting.text} |"


def test_page_has_the_rows_of_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = {setting.name: row(setting) for setting in SETTINGS}
    if os.environ.get("PHONEPROV_WRITE_DOCS") == "1":
        page = ROW.sub(lambda found: rows[found[1]], page)
        PAGE.write_text(page, encoding="utf-8")

    assert [found[0] for found in ROW.finditer(page)] == list(rows.values())


@pytest.mark.parametrize("setting", BOUNDED, ids=lambda setting: setting.name)
def test_message_of_an_invalid_value_has_the_bounds_of_the_table(setting: Setting) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({setting.name: "-1"})

    assert str(caught.value) == f"{setting.name} must be {setting.form.words}, got '-1'."


def test_bounds_of_numbers_are_accepted_and_the_next_values_refused() -> None:
    numbers = [(one, found) for one in SETTINGS if (found := NUMBER.fullmatch(one.form.words))]

    assert len(numbers) > 20
    for setting, found in numbers:
        least, most = int(found[1]), int(found[2])
        tried = [accepts(setting.form, n) for n in (least - 1, least, most, most + 1)]
        assert tried == [False, True, True, False], setting.name


def accepts(form: Form[object], number: int) -> bool:
    try:
        return form.read(str(number)) == number
    except ValueError:
        return False
