"""How the pages become a site: ``make docs``. The Python reference is built from docstrings."""

import ast
import inspect
import re
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from phoneprov_core.application import UseCases

project = "phoneprov"
author = "the phoneprov authors"
project_copyright = author
release = version = version_of("phoneprov")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = f"phoneprov {release}"
# Nothing of the site comes from another host, and nothing of it tells who reads it.
html_show_sphinx = False
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
# The docstrings name private helpers and types of libraries, which have no page here.
nitpicky = False
# Requests are shown by their first line, without a version of HTTP.
suppress_warnings = ["misc.highlighting_failure"]

_MODULES = {
    "phoneprov_core.api": "The core",
    "phoneprov_adapters.api": "Adapters, embedding and settings",
    "phoneprov_adapters.testing": "The contract kit",
    "phoneprov_http.api": "The HTTP adapter",
}
# A feature of one module is public itself.
_SMALL = sorted(
    {
        feature.__module__
        for feature in get_type_hints(UseCases).values()
        if feature.__module__.count(".") == 2
    }
)
_MODULES |= {name: name.partition(".")[2].replace("_", " ").capitalize() for name in _SMALL}
_HERE = Path(__file__).resolve().parent
_WRITTEN = _HERE / "reference" / "python"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", lambda *_: _write_reference())
    app.connect("source-read", _without_links_to_sources)


def _without_links_to_sources(_app: Any, page: str, source: list[str]) -> None:
    # The site holds the pages alone. A test sees to it that these links lead somewhere.
    folder = (_HERE / page).parent

    def text_alone(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        return link[0] if target.is_relative_to(_HERE) else link[1]

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\((?!\w+:)([^)#\s]+)\)", text_alone, source[0])


def _write_reference() -> None:
    _WRITTEN.mkdir(exist_ok=True)
    for name, title in _MODULES.items():
        module = import_module(name)
        lines = [title, "=" * len(title), "", *(module.__doc__ or "").splitlines(), ""]
        for public in _public_names(module):
            lines += _described(f"{name}.{public}", getattr(module, public))
        page = _WRITTEN / f"{name.replace('.', '-')}.rst"
        text = "\n".join(lines) + "\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _public_names(module: ModuleType) -> list[str]:
    """The names that a module imports as themselves: ``from x import A as A``. Of a feature, its
    classes and functions."""
    if module.__name__ in _SMALL:
        found = vars(module).items()
        own = {name for name, one in found if getattr(one, "__module__", "") == module.__name__}
        return sorted(name for name in own if name[0] != "_")
    tree = ast.parse(inspect.getsource(module))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return sorted(
        alias.name for node in imports for alias in node.names if alias.asname == alias.name
    )


def _described(path: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return [f".. autoclass:: {path}", "   :members:", ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {path}", ""]
    return [f".. autodata:: {path}", "   :no-value:", ""]
