"""Rendering of templates: Jinja2, restricted to the language of the feature ``templates``."""
