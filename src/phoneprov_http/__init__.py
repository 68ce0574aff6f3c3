"""The HTTP adapter: maps the routes of the interface to use cases of the core.

``phoneprov_http.api`` has the public names.
"""
