"""The container: the use cases of all features over the adapters.

Every object is made once, synchronously, when it is first asked for: a command makes only what it
uses. The database is opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from collections.abc import Iterator
from dataclasses import fields

from dependency_injector import providers

from phoneprov_adapters.composition import batches, desks, fleet, retention
from phoneprov_adapters.composition.batches import BatchesContainer
from phoneprov_adapters.composition.checked import Periodic
from phoneprov_adapters.composition.desks import DesksContainer
from phoneprov_adapters.composition.fleet import FleetContainer
from phoneprov_adapters.composition.lines import LinesContainer
from phoneprov_adapters.composition.retention import RetentionContainer
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.transfer import TransferContainer
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.application import UseCases


class Features(
    BatchesContainer,
    DesksContainer,
    FleetContainer,
    LinesContainer,
    RetentionContainer,
    TransferContainer,
):
    """What the features provide, each in a module of its own."""


class Container(Features):
    """The features, and their use cases in one object; see ``Adapters``."""

    use_cases: providers.Provider[UseCases] = providers.Singleton(
        UseCases, **{each.name: Features.providers[each.name] for each in fields(UseCases)}
    )


def container_with(settings: Settings, keys: SecretKeys, **adapters: object) -> Container:
    """The container, with other adapters by the names of their providers."""
    container = Container(settings=settings, keys=keys)
    container.override_providers(
        **{name: providers.Object(adapter) for name, adapter in adapters.items()}
    )
    return container


def background_of(container: Container) -> Iterator[Periodic]:
    """What the features of a serving process repeat, in the order of their first start."""
    for feature in (batches, desks, fleet, retention):
        yield from feature.repeated(container)
