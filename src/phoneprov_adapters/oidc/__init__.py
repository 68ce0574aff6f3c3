"""A provider of OpenID Connect."""
