"""The core of phoneprov: entities, rules and use cases, free of IO.

It imports the standard library and msgspec only. What it needs from the world are ports, which
stand beside the features. ``phoneprov_core.api`` has the public names.
"""
