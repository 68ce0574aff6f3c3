"""The public names of the HTTP adapter: ``create_app`` makes the application over any use cases,
``make_app`` over those that the settings in the environment make.
"""

from phoneprov_http.app import HttpSettings, create_app
from phoneprov_http.main.serving.asgi import make_app

__all__ = ["HttpSettings", "create_app", "make_app"]
