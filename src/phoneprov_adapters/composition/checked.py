"""Providers of dependency-injector whose arguments mypy checks like those of a call.

The library's own providers accept every argument. ``singleton`` has the parameters of what it
calls, and ``of`` the type of what a provider provides:
``phones = singleton(Phones, database=of(database), clock=of(clock))``.
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple, ParamSpec, TypeVar, cast, overload

from dependency_injector import providers

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


def singleton(make: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> providers.Provider[T]:
    """Provides one object per container, which is made when it is first asked for."""
    return providers.Singleton(make, *args, **kwargs)


def resource(
    make: Callable[P, Iterator[T]], /, *args: P.args, **kwargs: P.kwargs
) -> providers.Resource[T]:
    """Like ``singleton``, for an object that has to be closed: ``make`` yields it, and ``shutdown``
    closes it if it was made."""
    return providers.Resource(make, *args, **kwargs)


@overload
def of(provider: providers.Provider[T], /) -> T: ...
@overload
def of(provider: providers.Provider[T], part: Callable[[T], U], /) -> U: ...
def of(provider: providers.Provider[T], part: Callable[[T], U] | None = None, /) -> T | U:
    """The object of a provider, or a part of the object, as an argument of ``singleton``. At
    runtime it is a provider, which is called when the argument is needed."""
    return cast(T | U, provider if part is None else providers.Callable(part, provider))


class Periodic(NamedTuple):
    """Background work of a serving process: repeated after a pause of ``seconds``, and started
    ``immediately`` or after the first pause."""

    work: Callable[[], Awaitable[object]]
    seconds: float
    immediately: bool = True
