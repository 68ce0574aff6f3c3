"""The container: the use cases of all features over the adapters.

Every object is made once, synchronously, when it is first asked for: a command makes only what it
uses. The database is opened and closed by ``phoneprov_adapters.composition.lifecycle``.
"""

from collections.abc import Iterator
from dataclasses import fields

from dependency_injector import containers, providers

from phoneprov_adapters.composition import batches, desks, fleet, retention
from phoneprov_adapters.composition.batches import BatchesContainer
from phoneprov_adapters.composition.fleet import FleetContainer
from phoneprov_adapters.composition.identities import IdentitiesContainer
from phoneprov_adapters.composition.joining import JoiningContainer
from phoneprov_adapters.composition.lines import LinesContainer
from phoneprov_adapters.composition.plugins import Periodic, of, singleton
from phoneprov_adapters.composition.rehearsal import RehearsalContainer
from phoneprov_adapters.composition.retention import RetentionContainer
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.composition.transfer import SyncContainer
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_core.application import UseCases
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.lines.use_cases import WarnOfNoLine
from phoneprov_core.features.templates.deployed import KeepTexts
from phoneprov_core.switching.deployments.preview import Foresee
from phoneprov_core.switching.deployments.records import Participant


class Features(
    BatchesContainer,
    FleetContainer,
    IdentitiesContainer,
    JoiningContainer,
    LinesContainer,
    RehearsalContainer,
    RetentionContainer,
    SyncContainer,
):
    """What the features provide, each in a module of its own."""


def order_of_locks(texts: KeepTexts, desks: Occupancy) -> tuple[Participant[SqlTransaction], ...]:
    """Those who take part in a deployment, in the order of their locks: the user and the lines of
    a text, then the desk."""
    return texts, desks


def warnings_of(lines: WarnOfNoLine) -> tuple[Foresee, ...]:
    """What warns of a switch in its preview."""
    return (lines,)


@containers.override(SwitchingContainer)
class TakingPart(containers.DeclarativeContainer):
    """What the features give to deployments, which know none of them."""

    participants = singleton(
        order_of_locks, texts=of(Features.keep_texts), desks=of(Features.occupancy)
    )
    foresee = singleton(warnings_of, lines=of(Features.warn_of_no_line))


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
