"""How the pages become a site: ``make docs``. The Python reference is built from docstrings."""

import inspect
import re
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

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

_PACKAGES = {
    "phoneprov_core": "The core",
    "phoneprov_adapters": "Adapters, embedding and settings",
    "phoneprov_adapters.testing": "The contract kit",
    "phoneprov_http": "The HTTP adapter",
}
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
    for package, title in _PACKAGES.items():
        module = import_module(package)
        lines = [title, "=" * len(title), "", *(module.__doc__ or "").splitlines(), ""]
        for name in module.__all__:
            lines += _described(package, name, getattr(module, name))
        page = _WRITTEN / f"{package.replace('.', '-')}.rst"
        text = "\n".join(lines) + "\n"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _described(package: str, name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return [f".. autoclass:: {package}.{name}", "   :members:", ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {package}.{name}", ""]
    return [f".. autodata:: {package}.{name}", "   :no-value:", ""]
