"""The public names can be imported, are typed and are documented."""

import ast
import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from functools import cached_property
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import phoneprov_adapters.api
import phoneprov_adapters.testing
import phoneprov_core.api
import phoneprov_http.api

PACKAGES = [phoneprov_core, phoneprov_adapters, phoneprov_http]
APIS = [phoneprov_core.api, phoneprov_adapters.api, phoneprov_http.api, phoneprov_adapters.testing]
BY_API = pytest.mark.parametrize("api", APIS, ids=lambda api: api.__name__)
BY_NAME = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)

# alembic runs these; importing them does work.
NOT_IMPORTED = "phoneprov_adapters.sql.migrations."
LOADED = """
import sys
import {package}
print(*{{name.partition(".")[0] for name in sys.modules}})
"""
TIMED = """
import time
began = time.process_time()
import phoneprov_core
print(time.process_time() - began)
"""


def modules_of(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    # A module whose name begins with an underscore is private, as any other name is.
    names = [
        module.name
        for module in found
        if not module.name.startswith(NOT_IMPORTED) and "._" not in module.name
    ]
    return [package.__name__, *(name for name in names if not name.endswith(".__main__"))]


def printed(program: str) -> str:
    """The output of a new Python process that runs this."""
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout


def loaded_by(package: str) -> set[str]:
    """The packages that are loaded after one was imported."""
    return set(printed(LOADED.format(package=package)).split())


@BY_API
def test_every_public_name_can_be_imported(api: ModuleType) -> None:
    names = imported_by(api).keys()

    assert names
    assert [name for name in names if getattr(api, name) is None] == []


@BY_API
def test_every_public_name_has_a_docstring_of_its_own(api: ModuleType) -> None:
    """Dataclasses inherit none, but make one of their fields; data have no ``__doc__``."""
    silent = {
        name
        for name, module in imported_by(api).items()
        if not docstring_in(importlib.import_module(module), name)
    }

    assert silent == set()


def docstring_in(module: ModuleType, name: str) -> str | None:
    """The docstring of a class or function, or the text after an assignment, in the source."""
    assert module.__file__
    body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    for node, following in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name == name:
                return ast.get_docstring(node)
        elif name in {target.id for target in _targets(node) if isinstance(target, ast.Name)}:
            text = following.value if isinstance(following, ast.Expr) else None
            return str(text.value) if isinstance(text, ast.Constant) else None
    return None


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    return node.targets if isinstance(node, ast.Assign) else []


def core_types(hint: Any) -> Iterator[type[Any]]:
    """The classes of the core in a type, those in its arguments too."""
    found = typing.get_origin(hint) or hint
    if inspect.isclass(found) and found.__module__.startswith("phoneprov_core."):
        yield found
    for inner in hint if isinstance(hint, list) else typing.get_args(hint):
        yield from core_types(inner)


def test_every_type_of_the_use_cases_is_a_public_name() -> None:
    hints = typing.get_type_hints(phoneprov_core.api.UseCases).values()
    # A feature that is not configured has no use cases.
    groups = [
        typing.get_args(hint)[0] if isinstance(hint, types.UnionType) else hint for hint in hints
    ]
    modules = {group.__module__ for group in groups if group.__module__.count(".") == 2}
    assert {"phoneprov_core.inventory.phone_parts", "phoneprov_core.people.me"} <= modules
    public = {
        id(thing)
        for module in (phoneprov_core.api, *map(importlib.import_module, modules))
        for thing in vars(module).values()
    }
    needed = set()
    for group in groups:
        needed |= set(core_types(group))
        for name, method in vars(group).items():
            if inspect.isfunction(method) and (not name.startswith("_") or name == "__call__"):
                for hint in typing.get_type_hints(method).values():
                    needed |= set(core_types(hint))

    assert {one.__name__ for one in needed if id(one) not in public} == set()


def test_core_warns_on_no_standard_error_without_logging() -> None:
    """Python writes the bare text of a warning there if no handler takes it."""
    program = """
import logging
import phoneprov_core.api
logging.getLogger("phoneprov.desks").warning("a bare word")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert done.stderr == ""


def test_version_is_that_of_the_package() -> None:
    assert phoneprov_core.__version__ == metadata.version("phoneprov")


@BY_API
def test_public_name_is_defined_in_its_module(api: ModuleType) -> None:
    elsewhere = {
        name
        for name, module in imported_by(api).items()
        if inspect.isclass(thing := getattr(api, name)) and thing.__module__ != module
    }

    # An alias for text with a format, which has no module of its own.
    assert elsewhere - {"Timestamp"} == set()


def imported_by(api: ModuleType) -> dict[str, str]:
    """The names that a module imports as themselves (PEP 484), and their modules."""
    assert api.__file__
    return {
        alias.name: str(node.module)
        for node in ast.parse(Path(api.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def test_importing_the_core_loads_only_the_standard_library_and_msgspec() -> None:
    allowed = loaded_by("msgspec") | sys.stdlib_module_names | {"phoneprov_core"}

    for program in ("phoneprov_core", "phoneprov_core.api"):
        # The standard library's sysconfig data are a module, too.
        assert {root for root in loaded_by(program) - allowed if "sysconfig" not in root} == set()


def test_importing_the_core_cost_is_bounded() -> None:
    assert float(printed(TIMED)) < 0.1


def test_adapter_is_imported_on_first_use() -> None:
    assert not loaded_by("phoneprov_adapters") & {
        "sqlalchemy",
        "httpx",
        "aioftp",
        "argon2",
        "dependency_injector",
    }


# Docstrings


def undocumented(module: ModuleType) -> Iterator[str]:
    """Public classes, functions and methods of a module without a docstring.

    A method of a port or of a library's class is documented there. Properties are documented with
    their class, like attributes. The name of a test is its documentation.
    """
    if not module.__doc__:
        yield module.__name__
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing):
            if not thing.__doc__:
                yield f"{module.__name__}.{name}"
            yield from (f"{module.__name__}.{name}.{method}" for method in _silent_methods(thing))
        elif inspect.isfunction(thing) and not thing.__doc__:
            yield f"{module.__name__}.{name}"


def _silent_methods(thing: type[Any]) -> Iterator[str]:
    for name, member in vars(thing).items():
        if name.startswith(("_", "test_")) or isinstance(member, property | cached_property):
            continue
        callable_ = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
        if callable_ and not _is_documented(thing, name):
            yield name
        elif inspect.isclass(member) and member.__qualname__.startswith(f"{thing.__qualname__}."):
            yield from (f"{name}.{method}" for method in _silent_methods(member))


def _is_documented(thing: type[Any], method: str) -> bool:
    if inspect.getdoc(getattr(thing, method)):
        return True
    return any(
        method in vars(base) and not base.__module__.startswith("phoneprov_")
        for base in thing.__mro__[1:]
    )


@BY_NAME
def test_every_public_name_is_documented(package: ModuleType) -> None:
    silent = [
        name
        for module in modules_of(package)
        for name in undocumented(importlib.import_module(module))
    ]

    assert silent == []


def test_public_name_without_docstring_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sample", "A module.")
    monkeypatch.setitem(sys.modules, "sample", module)
    source = '''
class Silent:
    def method(self): ...
    @classmethod
    def made(cls): ...
    @property
    def attribute(self): ...
    def _private(self): ...

class Port:
    """A port."""
    def described(self):
        """Described."""

class Adapter(Port):
    """An adapter."""
    def described(self): ...
    def more(self): ...

def function(): ...
'''
    exec(compile(source, "sample", "exec"), vars(module))  # noqa: S102

    assert list(undocumented(module)) == [
        "sample.Silent",
        "sample.Silent.method",
        "sample.Silent.made",
        "sample.Adapter.more",
        "sample.function",
    ]


def test_reference_site_describes_every_public_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = runpy.run_path(str(Path(__file__).parents[2] / "docs/conf.py"))
    monkeypatch.setitem(conf["_write_reference"].__globals__, "_WRITTEN", tmp_path)

    conf["_write_reference"]()

    pages = "".join(page.read_text("utf-8") for page in tmp_path.iterdir())
    described = re.findall(r"^\.\. auto\w+:: (\S+)$", pages, re.MULTILINE)
    names = {f"{api.__name__}.{name}" for api in APIS for name in imported_by(api)}
    of_features = set(described) - names
    assert set(described) >= names
    parts = "phoneprov_core.inventory.phone_parts"
    assert {name.rpartition(".")[0] for name in of_features} >= {parts}
    assert {f"{parts}.Kems", f"{parts}.CreateKem"} <= of_features
