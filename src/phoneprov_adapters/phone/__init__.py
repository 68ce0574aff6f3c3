"""Phones, called over the web server they carry."""
