"""Applying a unified diff to one text yields the other."""

import re
import time

import pytest
from hypothesis import given, strategies as st

from phoneprov_core.inventory.configuration.comparison import MOST_LINES, MOST_STEPS, unified_diff


def diff(old: str, new: str) -> str:
    return unified_diff(old, new, old_label="on the phone", new_label="the profile")


def patched(old: str, patch: str) -> list[str]:
    """The lines of ``old`` with a unified diff applied; context and places must agree."""
    lines = old.split("\n")
    done: list[str] = []
    place = 0
    for line in patch.split("\n")[2:-1]:
        if header := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            start = int(header[1]) - (header[2] != "0")
            done += lines[place:start]
            place = start
            assert len(done) == int(header[3]) - (header[4] != "0")
        elif line.startswith("+"):
            done.append(line[1:])
        else:
            assert lines[place] == line[1:]
            if line.startswith(" "):
                done.append(lines[place])
            place += 1
    return done + lines[place:]


HEAD = "--- on the phone\n+++ the profile\n"
TEN = "".join(f"<line{i}/>\n" for i in range(1, 12))
CHANGED = (
    "@@ -3,7 +3,8 @@\n <line3/>\n <line4/>\n <line5/>\n-<line6/>\n+<new/>\n+<newer/>\n <line7/>\n"
    " <line8/>\n <line9/>\n"
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("<a>\n</a>", "<a>\n</a>", ""),
        (TEN, TEN.replace("<line6/>", "<new/>\n<newer/>"), HEAD + CHANGED),
        ("", "a\nb\n", f"{HEAD}@@ -0,0 +1,2 @@\n+a\n+b\n"),
        ("a", "", f"{HEAD}@@ -1 +0,0 @@\n-a\n"),
        (
            "<a>\r\n</a>\r\n",
            "<a>\n</a>",
            f"{HEAD}\\ The lines are the same; their ends (CR, LF) differ.\n",
        ),
    ],
)
def test_diff_is_unified_with_three_lines_of_context(old: str, new: str, expected: str) -> None:
    assert diff(old, new) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("10", ["@@ -1,14 +1,13 @@"]),  # six lines between them
        ("11", ["@@ -1,7 +1,6 @@", "@@ -9,7 +8,7 @@"]),
        ("25", ["@@ -1,7 +1,6 @@", "@@ -23,7 +22,7 @@"]),
    ],
)
def test_diff_distant_changes_have_separate_hunks(other: str, expected: list[str]) -> None:
    old = "".join(f"{i}\n" for i in range(30))

    patch = diff(old, old.replace("\n3\n", "\n").replace(f"\n{other}\n", "\nx\n"))

    assert [line for line in patch.split("\n") if line.startswith("@@")] == expected


LINES = st.lists(st.sampled_from(["<a/>", "<b/>", "<c/>", ""]), max_size=40)


@given(LINES, LINES)
def test_diff_applied_to_the_old_text_gives_the_new_text(
    before: list[str], after: list[str]
) -> None:
    old, new = "\n".join(["<d>", *before, "</d>"]), "\n".join(["<d>", *after, "</d>"])

    patch = diff(old, new)

    assert (patch == "") == (old == new)
    assert patched(old, patch) == new.split("\n")


@pytest.mark.parametrize(
    ("old_lines", "new_lines", "kinds"),
    [(MOST_LINES + 20, MOST_LINES + 10, 5000), (MOST_LINES, MOST_LINES - 10, 7)],
    ids=["many lines", "many equal lines"],
)
def test_diff_over_the_matching_limit_replaces_the_whole_range(
    old_lines: int, new_lines: int, kinds: int
) -> None:
    head, tail = "<d>\n" * 5, "</d>\n" * 5
    old = head + "".join(f"{i % kinds}\n" for i in range(10, 10 + old_lines)) + tail
    new = head + "".join(f"{i % (kinds - 2)}\n" for i in range(new_lines)) + tail

    patch = diff(old, new)

    assert patched(old, patch) == new.split("\n")
    assert patch.count("\n@@") == 1


def test_diff_matched_lines_cost_is_bounded() -> None:
    """Every second line is unique, so that each search finds one line; the others repeat as often
    as the bound allows."""
    lines = MOST_LINES // 2
    repeated = MOST_STEPS // MOST_LINES // lines
    kinds = lines // repeated
    old = "\n".join(f"{i % kinds}\nold {i}" for i in range(lines))
    new = "\n".join(f"{i % kinds}\nnew {i}" for i in range(lines))

    began = time.process_time()
    patch = diff(old, new)
    assert time.process_time() - began < 10  # 0.4 s on a quiet machine

    assert patched(old, patch) == new.split("\n")
    assert patch.count("\n ") == lines, "the equal lines are matched"
