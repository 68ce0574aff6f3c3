"""Providers of dependency-injector whose arguments mypy checks as in a call.

The library's own providers accept every argument. ``singleton`` has the parameters of what it
calls, and ``of`` the type of what a provider provides:
``phones = singleton(Phones, database=of(database), clock=of(clock))``.

Adapters by name: the adapters of this package, and of other packages with entry points.

A package offers an adapter in one of the groups below, under the name that the setting chooses
it by. The entry point is a function ("factory") that is given the ``Settings`` and answers the
adapter; it reads settings of its own from ``settings.variables``. What it raises as
``SettingsError``, ``ValueError`` or ``OSError`` stops the start with one line.

==========================  ============================  =======================================
group                       chosen by                     a factory
==========================  ============================  =======================================
``phoneprov.uploaders``     ``PHONEPROV_UPLOADER``        ``(Settings) -> ConfigUploader``
``phoneprov.phones``        ``PHONEPROV_PHONE_DRIVER``    ``(Settings) -> PhoneDriver``
==========================  ============================  =======================================
"""

from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast, overload

from dependency_injector import providers
from msgspec import Struct

from phoneprov_adapters.composition.forms import Form
from phoneprov_adapters.composition.variables import SettingsError

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


class Plugins(Struct, frozen=True):
    """One kind of adapter that can be chosen by name: its group of entry points, the variable that
    chooses, and the built-in names."""

    group: str
    variable: str
    kind: str
    built_in: tuple[str, ...]

    def names(self) -> tuple[str, ...]:
        """All names, the built-in ones first."""
        others = {found.name for found in entry_points(group=self.group)}
        return (*self.built_in, *sorted(others.difference(self.built_in)))

    def known(self, name: str) -> str:
        """The name, if it can be chosen. Raises ``ValueError`` with the names that can."""
        # Reading the installed entry points takes long, and is not needed for built-in names.
        if name not in self.built_in and name not in self.names():
            raise ValueError(f"it must be one of {', '.join(self.names())}")
        return name

    @property
    def form(self) -> Form[str]:
        """What the variable must be."""
        return Form(f"{', '.join(self.built_in)} or the name of another {self.kind}", self.known)

    def make(self, name: str, *arguments: Any) -> Any:
        """The adapter of another package: the result of the factory with this name.

        Raises ``SettingsError`` if it is not installed, cannot be loaded, is offered by several
        packages, or cannot create the adapter.
        """
        found = self._found(name)
        package = found.dist.name if found.dist else "an unnamed package"
        whose = f"{self.variable} is {name}, but that {self.kind}, of {package},"
        try:
            factory: Callable[..., Any] = found.load()
        except (ImportError, AttributeError) as error:
            raise SettingsError(f"{whose} cannot be loaded ({type(error).__name__}).") from error
        try:
            return factory(*arguments)
        except (ValueError, OSError) as error:
            raise SettingsError(f"{whose} cannot be set up: {error}") from error

    def _found(self, name: str) -> EntryPoint:
        found = tuple(entry_points(group=self.group, name=name))
        # The same package may be on the path twice, for instance when installed from its source.
        packages = {point.dist.name if point.dist else "" for point in found}
        if not found:
            raise SettingsError(f"{self.variable} must be one of {', '.join(self.names())}.")
        if len(packages) > 1:
            raise SettingsError(
                f"{self.variable} is {name}, which several packages offer: "
                f"{', '.join(sorted(packages))}; uninstall all but one."
            )
        return found[0]


UPLOADERS = Plugins("phoneprov.uploaders", "PHONEPROV_UPLOADER", "uploader", ("ftp", "served"))
"""Uploaders of this package and of other packages."""
PHONE_DRIVERS = Plugins("phoneprov.phones", "PHONEPROV_PHONE_DRIVER", "phone driver", ("cisco",))
"""Phone drivers of this package and of other packages."""
