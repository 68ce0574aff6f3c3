"""The core is pure: it imports only the standard library and msgspec, and does no IO."""

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import phoneprov_core

CORE = Path(phoneprov_core.__file__).parent
MODULES = sorted(CORE.rglob("*.py"))
OUTSIDE = {
    "http", "io", "os", "pathlib", "random", "secrets", "select", "selectors", "shutil", "signal",
    "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip


def imports_of(module: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names.add(node.module or "")
    return names


def nodes_of(module: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))


def violations(check: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """What the check finds in each module of the core."""
    found = {module.relative_to(CORE).as_posix(): sorted(check(module)) for module in MODULES}
    return {module: names for module, names in found.items() if names}


def test_core_imports_only_the_standard_library_and_msgspec() -> None:
    allowed = sys.stdlib_module_names | {"msgspec", "phoneprov_core"}

    assert violations(lambda module: {n.split(".")[0] for n in imports_of(module)} - allowed) == {}


def test_core_has_no_io_clock_or_randomness() -> None:
    calls = {"datetime.now", "datetime.utcnow", "uuid.uuid4", "uuid4", "open", "print"}

    def impure(module: Path) -> set[str]:
        called = {ast.unparse(node.func) for node in nodes_of(module) if isinstance(node, ast.Call)}
        return imports_of(module) & OUTSIDE | called & calls

    assert violations(impure) == {}


def test_core_contains_no_http_words() -> None:
    def words(module: Path) -> set[str]:
        names = {
            node.id if isinstance(node, ast.Name) else node.name
            for node in nodes_of(module)
            if isinstance(node, ast.Name | ast.ClassDef | ast.FunctionDef)
        }
        return {name for name in names if "status_code" in name or "header" in name.lower()}

    assert violations(words) == {}


def test_no_method_writes_in_two_transactions() -> None:
    """A crash between them would leave the change half done."""

    def methods(module: Path) -> list[str]:
        return [
            node.name
            for node in nodes_of(module)
            if isinstance(node, ast.AsyncFunctionDef) and len(transactions(node)) > 1
        ]

    # One of its two gives a guess back that could not be checked, and ends the call.
    assert violations(methods) == {"features/desks/pins.py": ["__call__"]}


def transactions(method: ast.AsyncFunctionDef) -> list[ast.AsyncWith]:
    return [
        node
        for node in ast.walk(method)
        if isinstance(node, ast.AsyncWith)
        and any(".write(" in ast.unparse(item.context_expr) for item in node.items)
    ]


def test_modules_are_in_one_of_three_packages() -> None:
    source = CORE.parent

    packages = {path.name for path in source.iterdir() if (path / "__init__.py").exists()}

    assert packages == {"phoneprov_core", "phoneprov_adapters", "phoneprov_http"}


# The diagram

SOURCE = CORE.parent
PAGE = Path(__file__).parents[2] / "docs/explanation/architecture.md"


def diagram() -> list[str]:
    """The lines of the one diagram."""
    return PAGE.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0].splitlines()


def names_in(line: str) -> set[str]:
    return {word for word in re.findall(r"[a-z_]+", line) if word not in {"wires", "main"}}


def test_diagram_modules_exist() -> None:
    titles, *rest = diagram()
    middle = titles.index("phoneprov_adapters") - 6
    beside = rest[:3]
    left = set().union(*(names_in(line[:middle]) for line in beside[:2]))
    right = set().union(*(names_in(line[middle:]) for line in beside))

    for package, named in (("phoneprov_http", left), ("phoneprov_adapters", right)):
        there = {path.stem for path in (SOURCE / package).iterdir()}
        assert named <= there, package
        folders = {path.parent.name for path in (SOURCE / package).glob("*/__init__.py")}
        assert folders - {"main"} <= named, package
    kernel = next(line for line in rest if "kernel:" in line)
    assert names_in(kernel) - {"kernel"} <= {path.stem for path in (CORE / "kernel").iterdir()}
    features = next(line for line in rest if "features:" in line)
    for role in names_in(features) - {"features"}:
        assert list(CORE.rglob(f"{role}.py")), role


def test_diagram_arrows_are_the_imports() -> None:
    arrows = {
        ("phoneprov_http", "phoneprov_core"): r"└─+▶ +phoneprov_core",
        ("phoneprov_adapters", "phoneprov_core"): r"phoneprov_core +◀─+┘",
        ("phoneprov_http.main", "phoneprov_adapters"): r"main ─+ wires ─+▶",
    }
    text = "\n".join(diagram())
    drawn = {edge for edge, arrow in arrows.items() if re.search(arrow, text)}
    heads = len(re.findall(r"[▶◀▲▼]", text))

    imported = set()
    for module in SOURCE.rglob("*.py"):
        package = module.relative_to(SOURCE).parts[0]
        for root in {name.split(".")[0] for name in imports_of(module)}:
            if root.startswith("phoneprov_") and root != package:
                main = package == "phoneprov_http" and "main" in module.parts
                wired = main and root == "phoneprov_adapters"
                imported.add((f"{package}.main" if wired else package, root))

    assert drawn == imported
    assert heads == len(imported)


# The rooms of the core

ROOMS = ("features", "switching", "inventory", "people", "kernel")


def room_of(module: str) -> str:
    """``features.desks`` for a module of a feature, else the room."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[0] == "features" else parts[0]


def rooms() -> dict[str, tuple[int, set[str]]]:
    """The rooms and features, each with its number of lines and the ones it imports."""
    found: dict[str, tuple[int, set[str]]] = {}
    for path in MODULES:
        name = "phoneprov_core." + path.relative_to(CORE).with_suffix("").as_posix().replace(
            "/", "."
        )
        room = room_of(name)
        if room.partition(".")[0] not in ROOMS or name.endswith("features.__init__"):
            continue
        lines, imported = found.get(room, (0, set()))
        imported |= {
            room_of(one)
            for one in imports_of(path)
            if one.startswith("phoneprov_core.") and one.split(".")[1] in ROOMS
        } - {room}
        found[room] = lines + len(path.read_bytes().splitlines()), imported
    return found


def drawn(found: dict[str, tuple[int, set[str]]]) -> str:
    """A line for each room, from the top: its name, its lines in hundreds, and what it imports
    besides the rooms below its own."""

    def place(room: str) -> tuple[int, int]:
        return ROOMS.index(room.partition(".")[0]), len(found[room][1])

    rows = []
    for room in sorted(found, key=lambda one: (place(one)[0], -place(one)[1], one)):
        lines, imported = found[room]
        others = sorted(one.removeprefix("features.") for one in imported if "." in one)
        uses = f"  uses {', '.join(others)}" if others else ""
        rows.append(f"{room:<20} {round(lines, -2):>6,} lines{uses}".rstrip())
    return "\n".join(rows)


def without_lines(text: str) -> str:
    return re.sub(r" +[\d,]+ lines", "", text)


def test_rooms_are_drawn_with_what_they_use() -> None:
    """The number of lines is a report: it is written, and not compared."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition("<!-- rooms -->\n```text\n")
    shown_, _, after = rest.partition("\n```")
    now = drawn(rooms())
    if os.environ.get("PHONEPROV_WRITE_DOCS") == "1":
        PAGE.write_text(f"{before}<!-- rooms -->\n```text\n{now}\n```{after}", encoding="utf-8")
        return
    assert without_lines(shown_) == without_lines(now)
