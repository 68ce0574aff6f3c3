"""CONTRIBUTING lists the files that a small resource takes; the list is complete."""

import os
import re
import subprocess
import sys
from pathlib import Path

from support.scale import long_only
from support.second_resource import FILES, GUIDE, NAMED, ROOT, add_headsets, copy_of_tree

# The test, and the code that follows the guide.
WALK = {"tests/unit/test_contributing.py", "tests/support/second_resource.py"}
USERS = {
    # The menu of a phone lists the services.
    "src/phoneprov_core/features/desks/access.py",
    # Templates are given the services.
    "src/phoneprov_core/features/templates/recipes.py",
    # The twin of a batch has the services that its templates are given.
    "src/phoneprov_adapters/rehearsal/process.py",
    "tests/contract/desks/test_login.py",
    # A resource that the crash tests write to.
    "tests/faults/writers.py",
    # The audited record with a URL.
    "tests/contract/stores/test_trail.py",
}
RELEVANT = [
    "tests/unit",
    "tests/contract/docs/test_reference.py",
    *(
        f"tests/contract/http/test_{name}.py"
        for name in ("every_resource", "access", "own_access", "audit", "openapi", "console_types")
    ),
    *(f"tests/contract/stores/test_{name}.py" for name in ("store", "trail", "sequences")),
    *(
        f"tests/contract/sql/test_{name}.py"
        for name in ("released_schemas", "indexed_reads", "same_answers", "stored_once")
    ),
    "tests/weight",
]


def named_in(folder: str, pattern: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob(pattern)
        if "__pycache__" not in path.parts and NAMED.search(path.read_text(encoding="utf-8"))
    }


def test_small_resource_takes_at_most_9_files() -> None:
    assert len(FILES) == len(set(FILES)) <= 9
    for name in FILES:
        assert NAMED.search((ROOT / name).read_text(encoding="utf-8")), name


def test_no_other_module_names_the_resource() -> None:
    named = (named_in("src", "*.py") | named_in("tests", "*.py")) - WALK

    assert named - USERS == {name for name in FILES if name.endswith(".py")}
    assert named >= USERS


def test_guide_code_is_that_of_the_resource() -> None:
    modules = [name for name in FILES if name.endswith(".py")]
    source = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in modules)
    lines = {line.strip() for line in source.splitlines()}

    blocks = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        for line in block.splitlines():
            shown = line.strip()
            assert not shown or shown in lines, shown


def test_files_to_read_first_are_twelve_and_exist() -> None:
    section = GUIDE.partition("## Read these twelve files first")[2].partition("\n## ")[0]
    named = re.findall(r"^\d+\. `([^`]+)`: \S", section, flags=re.MULTILINE)

    assert len(set(named)) == 12
    assert [name for name in named if not (ROOT / name).is_file()] == []


@long_only
def test_resource_added_by_the_guide_passes_the_tests(tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path)

    changed = add_headsets(tree)

    assert len(changed) == len(FILES)
    run(tree, "ruff", "check", "--fix", "--quiet", ".")
    run(tree, "ruff", "format", "--quiet", ".")
    run(tree, "mypy")
    written = ("tests/contract/docs/test_reference.py", "tests/contract/http/test_console_types.py")
    run(tree, "pytest", "-q", *written, PHONEPROV_WRITE_DOCS="1")
    run(tree, "pytest", "-q", "-n", "2", *RELEVANT)


def run(tree: Path, module: str, *arguments: str, **settings: str) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PHONEPROV_")},
        "PYTHONPATH": str(tree / "src"),
        **settings,
    }
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
