"""``python -m phoneprov_http.main`` is the command ``phoneprov``."""

from phoneprov_http.main.cli import main

main()
