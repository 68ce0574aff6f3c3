"""Sign-in with an OpenID Connect provider."""
