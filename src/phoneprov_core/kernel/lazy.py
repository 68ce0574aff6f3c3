"""Names of a package that are imported when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any


class LazyNames:
    """The public names of a package, by module.

    Type checkers read the package's ``__init__.pyi``, which has the same names.
    """

    def __init__(self, package: str, names: Mapping[str, Sequence[str]]) -> None:
        self._package = package
        self._homes = {name: module for module, several in names.items() for name in several}

    @property
    def all(self) -> list[str]:
        """The names, for ``__all__``."""
        return sorted(self._homes)

    def load(self, name: str) -> Any:
        """The object of a name, for ``__getattr__``. Raises ``AttributeError``."""
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)

    def dir(self) -> list[str]:
        """The names, for ``__dir__``."""
        return self.all
