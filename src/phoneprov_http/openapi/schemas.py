"""Schemas of the OpenAPI document, and the failures of operations."""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import (
    DiskFull,
    Forbidden,
    Invalid,
    NotFound,
    NotWritable,
    PhoneprovError,
    ReadOnlyToken,
    Unauthenticated,
    Unavailable,
    WrongKey,
)
from phoneprov_core.kernel.fields import fields_of
from phoneprov_core.people.access import NeedsLogin
from phoneprov_http.envelope import ErrorInfo, Failure
from phoneprov_http.errors import STATUS, Malformed, TooLarge, UnsupportedMediaType, kind_of

Errors = Sequence[type[PhoneprovError]]

SHARED: dict[int, Errors] = {
    400: (Malformed,),
    401: (Unauthenticated,),
    403: (Forbidden, ReadOnlyToken, NeedsLogin),
    404: (NotFound,),
    413: (TooLarge,),
    415: (UnsupportedMediaType,),
    422: (Invalid,),
    503: (Unavailable, NotWritable, DiskFull, WrongKey),
}
"""Failures that many operations have: components of the document."""


def specified(raises: Iterable[type[PhoneprovError]]) -> dict[int, ResponseSpec]:
    """The ``responses`` of a handler that raises these errors."""
    of_status: dict[int, list[type[PhoneprovError]]] = {}
    for error in raises:
        kind = kind_of(error)
        assert kind is not None, error
        of_status.setdefault(STATUS[kind], []).append(error)
    if 503 in of_status:  # nothing that an operation is for excludes the shared ones
        of_status[503] = list(dict.fromkeys([*SHARED[503], *of_status[503]]))
    return {status: _spec(errors) for status, errors in of_status.items()}


def _spec(errors: Errors) -> ResponseSpec:
    meanings = [f"`{error.code}`: {words_of(error)}" for error in errors]
    kind = kind_of(errors[0])
    assert kind is not None
    return ResponseSpec(
        data_container=Failure,
        description=" ".join([words_of(kind), *meanings]),
        generate_examples=False,
        examples=[Example(id=error.code, value=_example(error)) for error in errors],
    )


def words_of(thing: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((thing.__doc__ or "").partition("\n\n")[0].split())


def _example(error: type[PhoneprovError]) -> Failure:
    request_id = "9b2f0c7d1e5a4d2f8c1b6a7e3f409d55"
    details = ErrorInfo(error.code, error.usual_problems, request_id)
    return Failure(False, error.usual, None, details)


Json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_OF_FORMAT = {
    "uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11",
    "date-time": "2026-01-31T08:15:30.250Z",
}
_UUID = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_OF_TYPE = {"string": "text", "integer": 0, "boolean": True, "object": None}


@cache
def reference(struct: Any) -> Json:
    """A reference to the schema of a Struct."""
    ((schema,), _) = msgspec.json.schema_components([struct], ref_template=_REF)
    return {"$ref": _REF.format(name=_named(schema))}


def _named(schema: Json) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name


def schemas_of(structs: Collection[Any]) -> Json:
    """The schemas of these Structs, and of Structs in them. ``JSON_SCHEMA`` of a Struct says which
    fields need and which exclude each other."""
    _, components = msgspec.json.schema_components(structs, ref_template=_REF)
    together = {
        one.__name__: _conditional(one.JSON_SCHEMA)
        for one in structs
        if hasattr(one, "JSON_SCHEMA")
    }
    tidied = _tidied(components)
    commands = [one for one in structs if isinstance(one, type) and issubclass(one, Command)]
    items = [field.item for one in commands for field in fields_of(one) if field.item]
    for one in (*commands, *items):
        fields = tidied[one.__name__]["properties"]
        fields |= {name: _or_empty(schema) for name, schema in fields.items()}
    return {
        name: {**schema, "additionalProperties": False, **together.get(name, {})}
        for name, schema in tidied.items()
    }


def _conditional(rule: Json) -> Json:
    """The rule as the condition of an ``if``: generators of clients make a type of
    alternatives from ``oneOf``, ``anyOf`` or ``allOf`` beside ``properties``, and lose fields."""
    condition = {name: value for name, value in rule.items() if name != "examples"}
    return {"if": condition, "else": {"not": {}}, "examples": rule["examples"]}


def _or_empty(schema: Json) -> Json:
    """The schema of a field; empty text means null."""
    if schema.get("type") != ["string", "null"]:
        return schema
    wider = {name: value for name, value in schema.items() if name != "minLength"}
    if wider.get("format") == "uuid":
        wider |= {"pattern": _UUID, "examples": [_OF_FORMAT[wider.pop("format")]]}
    if "pattern" in wider:
        wider["pattern"] = f"^$|{wider['pattern']}"
    if "enum" in wider:
        wider["enum"] = list(dict.fromkeys([*wider["enum"], ""]))
    return wider


def parameters_of(command: Any) -> Iterator[Json]:
    """The parameters of a query that is read as this command. One may be absent, but not null."""
    ((schema,), components) = msgspec.json.schema_components([command], ref_template=_REF)
    for field, described in _tidied(components)[_named(schema)]["properties"].items():
        kind = described.get("type", "string")
        plain = {**described, "type": kind[0] if isinstance(kind, list) else kind}
        plain.pop("default", None)
        if "enum" in plain:
            plain["enum"] = [one for one in plain["enum"] if one is not None]
        description = plain.pop("description")
        yield {"name": field, "in": "query", "description": description, "schema": plain}


def example(schema: Json, components: Json, fields: Container[str] | None = None) -> Any:
    """An example of what this schema describes; of an object only these ``fields``."""
    if "$ref" in schema:
        return example(components[_named(schema)], components, fields)
    for keyword in ("examples", "enum"):
        if keyword in schema:
            return next((one for one in schema[keyword] if one), schema[keyword][0])
    if "const" in schema:
        return schema["const"]
    if schema.get("format") in _OF_FORMAT:
        return _OF_FORMAT[schema["format"]]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], components)
    kind = schema.get("type")
    if kind == "array":
        return [example(schema["items"], components)]
    if kind == "object":
        return {
            name: example(field, components)
            for name, field in schema.get("properties", {}).items()
            if fields is None or name in fields
        }
    kind = kind[0] if isinstance(kind, list) else kind
    return schema.get("default", schema.get("minimum", _OF_TYPE.get(str(kind))))


def _tidied(components: Json) -> Json:
    """The schemas, with each enumeration in the place of the references to it, and null beside a
    type and not as a type of its own."""
    enums = {
        name: {"type": "string", "enum": schema["enum"]}
        for name, schema in components.items()
        if "enum" in schema
    }

    def placed(thing: Any) -> Any:
        if isinstance(thing, list):
            return [placed(item) for item in thing]
        if isinstance(thing, dict):
            plain = {key: placed(value) for key, value in thing.items()}
            if "$ref" in thing and (enum := enums.get(_named(thing))):
                del plain["$ref"]
                return {**enum, **plain}
            if "$ref" in thing:
                plain["$ref"] = _REF.format(name=_named(thing))
            return plain
        return thing

    tidied = {}
    for name, schema in sorted(components.items()):
        if "enum" not in schema:
            fields = {k: _nullable(v) for k, v in placed(schema["properties"]).items()}
            title = schema["title"]
            tidied[name] = {**schema, "title": title, "properties": fields}
    return tidied


def _nullable(schema: Json) -> Json:
    if schema.get("type") == "null":
        # A schema of null alone is more than some client generators understand.
        return {"description": "Always null", "type": ["object", "null"], "maxProperties": 0}
    # {"anyOf": [{"type": "string", ...}, {"type": "null"}]} as {"type": ["string", "null"], ...}
    inner, *others = schema.get("anyOf", [{}])
    if others != [{"type": "null"}] or "$ref" in inner:
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if "enum" in inner:
        inner = {**inner, "type": "string", "enum": [*inner["enum"], None]}
    return {**inner, "type": [inner["type"], "null"], **rest}
