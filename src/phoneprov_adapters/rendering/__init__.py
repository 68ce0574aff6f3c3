"""Rendering of templates: Jinja2, restricted to the language of ``phoneprov_core.templates``."""
