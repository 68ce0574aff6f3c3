"""Phones, modules, extensions, links, profiles and their configurations."""
