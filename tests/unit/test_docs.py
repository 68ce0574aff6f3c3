"""What the pages link to or name exists: pages, tests, files, settings, targets, commands."""

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from phoneprov_adapters.composition.table import declared
from phoneprov_http.main.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
TEST = re.compile(r"`((?:tests|src/phoneprov_adapters/testing)/[\w/]+\.py)(?:::(\w+))?`")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def missing_in_pages(missing_in: Callable[[Path, str], Iterable[str]]) -> dict[str, list[str]]:
    """What each page names and does not exist."""
    found = {
        page.relative_to(ROOT).as_posix(): list(missing_in(page, page.read_text(encoding="utf-8")))
        for page in PAGES
    }
    return {page: missing for page, missing in found.items() if missing}


def test_links_between_pages_have_targets() -> None:
    def broken(page: Path, text: str) -> list[str]:
        return [target for target in LINK.findall(text) if not (page.parent / target).exists()]

    assert missing_in_pages(broken) == {}


def test_tests_named_by_pages_exist() -> None:
    def missing(page: Path, text: str) -> Iterator[str]:
        for file, name in TEST.findall(text):
            path = ROOT / file
            content = path.read_text(encoding="utf-8") if path.exists() else None
            if content is None or (
                name and not re.search(rf"^ *(async )?def {name}\(", content, re.MULTILINE)
            ):
                yield f"{file}::{name}"

    assert missing_in_pages(missing) == {}


def test_reference_index_links_every_page() -> None:
    folder = ROOT / "docs/reference"
    index = (folder / "index.md").read_text(encoding="utf-8")
    pages = {page.relative_to(folder).as_posix() for page in folder.rglob("*.md")}
    site = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    globs = re.findall(r"^reference/(\S+/)\*$", site, re.MULTILINE)
    assert globs == ["http/", "python/"]
    alone = {page for page in pages if not page.startswith(tuple(globs))}

    assert alone - {"index.md"} <= {*LINK.findall(index)}


def test_decision_index_links_every_page_of_few() -> None:
    folder = ROOT / "docs/decisions"
    pages = {page.name for page in folder.glob("*.md")} - {"index.md"}

    assert {*LINK.findall((folder / "index.md").read_text(encoding="utf-8"))} == pages
    assert len(pages) <= 30


ANCHOR = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)")


def test_links_to_sections_have_headings() -> None:
    def anchors(page: Path) -> set[str]:
        heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}

    def broken(page: Path, text: str) -> list[str]:
        return [
            f"{target}#{name}"
            for target, name in ANCHOR.findall(text)
            if name not in anchors((page.parent / target) if target else page)
        ]

    assert missing_in_pages(broken) == {}


def test_security_promises_name_their_tests() -> None:
    page = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
    promises = [line for line in page.splitlines() if re.match(r"\| (?!Promise|--)", line)]

    assert len(promises) > 30
    assert [line for line in promises if not TEST.search(line)] == []


FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|yml|service|socket|timer|conf|json))`")
MODULE = re.compile(r"`(phoneprov_(?:core|adapters|http)(?:\.\w+)+)`")


def test_files_and_modules_that_are_named_exist() -> None:
    sources = ROOT / "src"
    everywhere = [ROOT, sources, *sources.glob("phoneprov_*"), *sources.glob("*/*")]

    def missing(page: Path, text: str) -> Iterator[str]:
        for name in FILE.findall(text):
            if not any((folder / name).exists() for folder in (page.parent, *everywhere)):
                yield name
        for name in MODULE.findall(text):
            path = sources / name.replace(".", "/")
            parent = path.parent.with_suffix(".py")
            in_parent = parent.exists() and path.name in parent.read_text(encoding="utf-8")
            if not (path.is_dir() or path.with_suffix(".py").exists() or in_parent):
                yield name

    assert missing_in_pages(missing) == {}


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


def test_settings_targets_and_commands_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)}
    settings = {name for _, one in declared() for name in (one.name, f"{one.name}_FILE")}

    def missing(page: Path, text: str) -> Iterator[str]:
        yield from {*SETTING.findall(text)} - settings - OTHER_SETTINGS
        yield from {*TARGET.findall(text)} - targets
        for name, inner in COMMAND.findall(text):
            command = main.get_command(click.Context(main), name)
            if command is None or (
                inner and isinstance(command, click.Group) and inner not in command.commands
            ):
                yield f"phoneprov {name} {inner}"

    assert missing_in_pages(missing) == {}


OTHER_SETTINGS = {
    "PHONEPROV_AUDIT",
    "PHONEPROV_EMERGENCY",  # channel variables of Asterisk
    "PHONEPROV_PLACE",
    "PHONEPROV_OUTLETS",
    "PHONEPROV_OUTLETS_PORT",  # of an example
    "PHONEPROV_TESTS",
    "PHONEPROV_WRITE_DOCS",
}


TERM = re.compile(r"^\| [^|]+ \| [^|]+ \| `([\w.]+)` \|$", re.MULTILINE)


def test_names_of_the_glossary_are_defined_where_it_says() -> None:
    def is_defined(name: str) -> bool:
        module, _, last = name.rpartition(".")
        if not module:
            return find_spec(name) is not None
        if find_spec(f"phoneprov_core.{module.partition('.')[0]}") is None:
            return False
        try:
            found = getattr(import_module(f"phoneprov_core.{module}"), last, None)
        except ModuleNotFoundError:  # a field of a class
            module, _, kind = module.rpartition(".")
            owner = getattr(import_module(f"phoneprov_core.{module}"), kind, None)
            return last in getattr(owner, "__struct_fields__", ())
        return getattr(found, "__module__", None) == f"phoneprov_core.{module}"

    names = TERM.findall((ROOT / "docs/explanation/glossary.md").read_text(encoding="utf-8"))
    assert len(names) > 30
    assert [name for name in names if not is_defined(name)] == []
