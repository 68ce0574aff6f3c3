"""The contract kit: pytest tests of the contracts of ports.

Subclass a contract, name the class ``Test...``, and give it the fixture that its docstring names;
then every sentence of the port's contract is tested, races and faults included. The adapters of
this library run the same classes. Needs ``phoneprov[testing]``.
"""

import pkgutil

import pytest

# Before the modules are imported, so that a failing assert shows the compared values.
pytest.register_assert_rewrite(
    *(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)),
)

from phoneprov_adapters.testing.phone_drivers import (  # noqa: E402
    PhoneDriverContract as PhoneDriverContract,
    PhoneDriverRig as PhoneDriverRig,
)
from phoneprov_adapters.testing.uploaders import (  # noqa: E402
    PhoneUploaderContract as PhoneUploaderContract,
    UploaderContract as UploaderContract,
    UploaderRig as UploaderRig,
)
