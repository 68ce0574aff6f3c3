"""The core of phoneprov: entities, rules and use cases, free of IO.

It imports the standard library and msgspec, nothing else; everything it needs from the
world comes in through the ports that stand beside the features.
"""
