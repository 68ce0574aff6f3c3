"""CONTRIBUTING lists the files that a small resource takes; the list is complete."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = re.findall(r"^   - `([^`]+)`$", GUIDE, flags=re.MULTILINE)

# The path of directories of contacts is not that of the resource.
NAMED = re.compile(r"(?<!me/)vendor[-_]?services?\b(?!/(?:personal|company))", re.IGNORECASE)
WITHOUT_NAME = {"CHANGELOG.md"}

USERS = {
    # The menu of a phone lists the services.
    "src/phoneprov_core/features/desks/services.py",
    # Templates are given the services.
    "src/phoneprov_core/features/templates/recipes.py",
    "tests/contract/desks/test_login.py",
    # A resource that the crash tests write to.
    "tests/faults/writers.py",
    # The audited record with a URL.
    "tests/contract/stores/test_trail.py",
}


def named_in(folder: str, pattern: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob(pattern)
        if "__pycache__" not in path.parts and NAMED.search(path.read_text(encoding="utf-8"))
    }


def test_small_resource_takes_at_most_12_files() -> None:
    assert len(FILES) == len(set(FILES)) <= 12
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert name in WITHOUT_NAME or NAMED.search(text), name


def test_no_other_module_names_the_resource() -> None:
    named = named_in("src", "*.py") | named_in("tests", "*.py") - {
        "tests/unit/test_contributing.py"
    }

    assert named - USERS == {name for name in FILES if name.endswith(".py")} - WITHOUT_NAME
    assert named >= USERS


def test_guide_code_is_that_of_the_resource() -> None:
    source = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in FILES[:-2])
    lines = {line.strip() for line in source.splitlines()}

    blocks = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        for line in block.splitlines():
            shown = line.strip()
            assert not shown or shown in lines, shown
