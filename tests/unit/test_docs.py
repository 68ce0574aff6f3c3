"""What the pages link to or name exists: pages, tests, files, settings, targets, commands."""

import re
from pathlib import Path

import click
import pytest

from phoneprov_adapters.composition.reading import read_settings
from phoneprov_http.main.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
TEST = re.compile(r"`((?:tests|src/phoneprov_adapters/testing)/[\w/]+\.py)(?:::(\w+))?`")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_have_targets(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tests_named_by_pages_exist(page: Path) -> None:
    missing = []
    for file, name in TEST.findall(page.read_text(encoding="utf-8")):
        path = ROOT / file
        content = path.read_text(encoding="utf-8") if path.exists() else None
        if content is None or (
            name and not re.search(rf"^ *(async )?def {name}\(", content, re.MULTILINE)
        ):
            missing.append(f"{file}::{name}")

    assert missing == []


def test_reference_index_links_every_page() -> None:
    folder = ROOT / "docs/reference"
    index = (folder / "index.md").read_text(encoding="utf-8")
    pages = {page.relative_to(folder).as_posix() for page in folder.rglob("*.md")}
    built = {page for page in pages if page.startswith("python/")}

    assert pages - built - {"index.md"} <= {*LINK.findall(index)}


def test_security_promises_name_their_tests() -> None:
    page = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
    promises = [line for line in page.splitlines() if re.match(r"\| (?!Promise|--)", line)]

    assert len(promises) > 30
    assert [line for line in promises if not TEST.search(line)] == []


FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|yml|service|socket|timer|conf|json))`")
MODULE = re.compile(r"`(phoneprov_(?:core|adapters|http)(?:\.\w+)+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_modules_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    sources = ROOT / "src"
    folders = [ROOT, page.parent, sources, *sources.glob("phoneprov_*"), *sources.glob("*/*")]
    missing = [
        name
        for name in FILE.findall(text)
        if not any((folder / name).exists() for folder in folders)
    ]
    for name in MODULE.findall(text):
        path = sources / name.replace(".", "/")
        parent = path.parent.with_suffix(".py")
        in_parent = parent.exists() and path.name in parent.read_text(encoding="utf-8")
        if not (path.is_dir() or path.with_suffix(".py").exists() or in_parent):
            missing.append(name)

    assert missing == []


PRIVATE = re.compile(
    r"(?<![a-z])(nobody|somebody|whoever|anybody|whatever|told|so[ _]many|behind)(?![a-z])",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("pages", "most"),
    [
        (("src", "bench", "examples"), 2),
        (("docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"), 8),
        (("tests",), 15),
    ],
    ids=["src", "docs", "tests"],
)
def test_private_words_are_rare(pages: tuple[str, ...], most: int) -> None:
    """Sentences with these words hide the subject, or use *behind* for *after*."""
    found = []
    for page in pages:
        for path in (ROOT / page, *(ROOT / page).rglob("*")):
            if path.suffix in {".py", ".md", ".js", ".html"} and path.is_file():
                found += PRIVATE.findall(path.read_text(encoding="utf-8"))

    assert len(found) <= most


SETTING = re.compile(r"PHONEPROV_[A-Z_]*[A-Z](?![A-Z_.*])")
TARGET = re.compile(r"(?:`|^ *\$ )make ([a-z][a-z-]*)", re.MULTILINE)
COMMAND = re.compile(r"(?:`|^ *\$ )phoneprov ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_targets_and_commands_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    readings = read_settings({}).variables.readings()
    settings = {name for one in readings for name in (one.name, f"{one.name}_FILE")}
    missing = [
        *({*SETTING.findall(text)} - settings - OTHER_SETTINGS),
        *({*TARGET.findall(text)} - {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)}),
    ]
    for name, inner in COMMAND.findall(text):
        command = main.get_command(click.Context(main), name)
        if command is None or (
            inner and isinstance(command, click.Group) and inner not in command.commands
        ):
            missing.append(f"phoneprov {name} {inner}")

    assert missing == []


OTHER_SETTINGS = {
    "PHONEPROV_AUDIT",
    "PHONEPROV_OUTLETS",  # of an example
    "PHONEPROV_TESTS",
    "PHONEPROV_WRITE_DOCS",
}
