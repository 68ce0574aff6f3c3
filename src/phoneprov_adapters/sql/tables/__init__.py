"""The whole schema, in ``metadata``.

Shown moments are stored as the shown text, deadlines as milliseconds. A column ``x_key`` contains
the comparable form of column ``x``; ``x_sealed`` and ``x_key_id`` contain an encrypted secret and
the id of its key.
"""

from phoneprov_adapters.sql.tables import (
    inventory as inventory,
    people as people,
    switching as switching,
)
from phoneprov_adapters.sql.tables.columns import metadata as metadata
