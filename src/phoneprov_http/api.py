"""The public names of the HTTP adapter: ``create_app`` makes the application over any use cases,
``make_app`` over the use cases that the settings in the environment make.
"""

from phoneprov_http.app import HttpSettings as HttpSettings, create_app as create_app
from phoneprov_http.main.server.asgi import make_app as make_app
