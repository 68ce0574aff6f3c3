"""The contract kit: pytest tests of the contracts of ports.

Subclass a contract, name the class ``Test...``, and give it the one fixture of its docstring; then
every sentence of the port's contract is tested, races and faults included. The adapters of this
library run the same classes. Needs ``phoneprov[testing]``.
"""

from __future__ import annotations

import pkgutil

import pytest

from phoneprov_core.kernel.lazy import LazyNames

# Before the modules are imported, so that a failing assert shows the compared values.
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
