"""The OpenAPI document of the service, created once."""

from typing import Any

from phoneprov_http.main.commands.openapi import describe

DOCUMENT: dict[str, Any] = describe()
