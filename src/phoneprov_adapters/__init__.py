"""Adapters of the core's ports: databases, servers, phones, secrets, and their composition.

``phoneprov_adapters.api`` has the public names.
"""
