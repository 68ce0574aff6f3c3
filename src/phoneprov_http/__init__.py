"""The HTTP adapter: maps the routes of the interface to use cases of the core.

``create_app`` makes the application over any use cases, ``make_app`` over those that the
environment's settings make. A name is loaded when it is first asked for.
"""

from __future__ import annotations

from phoneprov_core.kernel.lazy import LazyNames

_names = LazyNames(
    __name__,
    {
        "phoneprov_http.app": ("HttpSettings", "create_app"),
        "phoneprov_http.main.serving.asgi": ("make_app",),
    },
)

__all__ = list(_names.all)
__getattr__ = _names.load
__dir__ = _names.dir
