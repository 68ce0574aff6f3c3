"""Failures in the OpenAPI document, from the classes of errors: their docstrings and messages."""

from collections.abc import Iterable, Sequence

from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from phoneprov_core.access.rules import NeedsLogin
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
