"""The OpenAPI document of the service, created once."""

from __future__ import annotations

from typing import Any

from phoneprov_http.main.commands.openapi import describe

DOCUMENT: dict[str, Any] = describe()
