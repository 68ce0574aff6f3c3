"""The OpenAPI document of the service, created once."""

from typing import Any

import jsonschema_rs

from phoneprov_http.main.commands.serve import describe

Json = dict[str, Any]
DOCUMENT: Json = describe()


def resolved(thing: Json) -> Json:
    """The part of the document that a reference names, or ``thing`` itself."""
    if "$ref" not in thing:
        return thing
    found: Any = DOCUMENT
    for step in thing["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    resolved_: Json = found
    return resolved_


def problems(schema: Json, value: Any) -> list[str]:
    """What is wrong with a value by its schema."""
    whole = {**schema, "components": DOCUMENT["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [error.message for error in validator.iter_errors(value)]
