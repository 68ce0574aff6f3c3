"""The core of phoneprov: entities, rules and use cases, free of IO. It imports the standard library
and msgspec only. Its interfaces to adapters are ports, in the folder of each feature.
``phoneprov_core.api`` has the public names."""

import logging

__version__ = "0.2.0"

# A program that sets up no logging sees no lines of ours; one that does sees all of them.
logging.getLogger("phoneprov").addHandler(logging.NullHandler())
