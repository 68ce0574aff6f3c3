from phoneprov_http.app import HttpSettings as HttpSettings
from phoneprov_http.app import create_app as create_app
from phoneprov_http.main.serving.asgi import make_app as make_app
