"""The core of phoneprov: entities, rules and use cases, free of IO.

It imports the standard library and msgspec only. Its interfaces to adapters are ports, in the
folder of each feature. ``phoneprov_core.api`` has the public names.
"""
