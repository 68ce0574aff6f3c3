"""Follows CONTRIBUTING by the letter: adds the resource ``headsets`` to a copy of the tree, in the
files that the guide lists, as the guide's resource ``vendor_services`` is written there."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = re.findall(r"^   - `([^`]+)`$", GUIDE, flags=re.MULTILINE)
# The path of directories of contacts is not that of the resource.
NAMED = re.compile(r"(?<!me/)vendor[-_]?services?\b(?!/(?:personal|company))", re.IGNORECASE)


def copy_of_tree(folder: Path) -> Path:
    """The files of the repository, and those that are not ignored."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def add_headsets(tree: Path) -> list[str]:
    """Add the resource; returns the files of the guide that were changed or
    made. The changelog gets its line, too."""
    changed = []
    for name in FILES:
        text = (tree / name).read_text(encoding="utf-8")
        if Path(name).stem in {"vendor_services", "vendor-services"}:
            own = name.replace("vendor_services", "headsets").replace("vendor-services", "headsets")
            (tree / own).write_text(renamed(text, every_word=True), encoding="utf-8")
            changed.append(own)
        else:
            (tree / name).write_text(with_second(text), encoding="utf-8")
            changed.append(name)
    changelog = tree / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    text = text.replace("### Added\n", "### Added\n\n- Headsets: `/headsets`.", 1)
    changelog.write_text(text, encoding="utf-8")
    return changed


def with_second(text: str) -> str:
    """Each statement or item that names the resource, and after it the same one of headsets."""
    result: list[str] = []
    rest = text.splitlines()
    while rest:
        length = _length(rest) if _begins(rest) else 1
        block, rest = rest[:length], rest[length:]
        result += block
        if any(map(NAMED.search, block)):
            result += renamed("\n".join(block)).splitlines()
    return "\n".join(result) + "\n"


def _begins(lines: list[str]) -> bool:
    opened = lines[0].strip() == "Resource("
    return (opened and "vendor-services" in lines[1]) or bool(NAMED.search(lines[0]))


def _length(lines: list[str]) -> int:
    """The number of lines until the brackets that the first line opens are closed."""
    depth = 0
    for number, line in enumerate(lines, 1):
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0:
            return number
    return 1


def renamed(text: str, *, every_word: bool = False) -> str:
    """The text about headsets."""
    for old, new in (
        (r"Vendor[ ]?Service", "Headset"),
        (r"Vendor service", "Headset"),
        (r"vendor[-_ ]service", "headset"),
        (r"VENDOR_SERVICE", "HEADSET"),
        (r'one_name="service"', 'one_name="headset"'),
        (r'noun="Service"', 'noun="Headset"'),
    ):
        text = re.sub(old, new, text)
    if every_word:
        text = re.sub(r"(?<![a-zA-Z])service(s?)(?![a-zA-Z])", r"headset\1", text)
        text = re.sub(r"(?<![a-zA-Z])Service(s?)(?![a-zA-Z])", r"Headset\1", text)
    return text
