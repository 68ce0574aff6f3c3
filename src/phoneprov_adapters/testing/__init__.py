"""The contract kit: what an adapter of a port has to do, as tests for pytest.

Subclass a contract, name the class ``Test...``, and give it the one fixture that its docstring
asks for; every sentence of the port's contract is then tested, races and faults included. The
adapters of this library are held to the same classes. Needs ``phoneprov[testing]``.
"""

from __future__ import annotations

import pkgutil

import pytest

from phoneprov_core.kernel.lazy import LazyNames

# Before any of them is imported: a failing assert then shows what it compared.
pytest.register_assert_rewrite(
    *(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)),
)

_names = LazyNames(
    __name__,
    {
        "phoneprov_adapters.testing.phone_drivers": ("PhoneDriverContract", "PhoneDriverRig"),
        "phoneprov_adapters.testing.stores.database": ("DatabaseContract",),
        "phoneprov_adapters.testing.stores.sequences": ("Opening",),
        "phoneprov_adapters.testing.uploaders": (
            "PhoneUploaderContract",
            "UploaderContract",
            "UploaderRig",
        ),
    },
)

__all__ = list(_names.all)
__getattr__ = _names.load
__dir__ = _names.dir
