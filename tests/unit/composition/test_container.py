"""The container: arguments that mypy checks, and objects that are made when they are used."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dependency_injector import providers

from phoneprov_adapters.composition.container import Container, container_with
from phoneprov_adapters.composition.plugins import of, resource, singleton
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.composition.variables import SettingsError
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.features.desks.occupancy import Occupancy
from phoneprov_core.features.lines.use_cases import WarnOfNoLine
from phoneprov_core.features.templates.deployed import KeepTexts
from phoneprov_core.inventory.phones.use_cases import Phones

KEYS = SecretKeys.parse("a key of more than thirty-two characters")


def wrongly_composed() -> None:
    """Never called. mypy reports each of these lines, and a comment that silences no error, too:
    so ``make check`` fails if a wrong argument is no longer an error."""
    database, clock, new_id = of(Container.database), of(Container.clock), of(Container.new_id)
    rule = of(Container.settings, lambda it: it.shared_write)
    singleton(Phones, database=database, shared_write=rule)  # type: ignore[call-arg]
    singleton(Phones, database=database, shared_write=rule, now=clock)  # type: ignore[call-arg]
    singleton(Phones, database=database, shared_write=rule, clock=new_id)  # type: ignore[arg-type]
    singleton(Phones, database=clock, shared_write=rule, clock=clock)  # type: ignore[arg-type]
    singleton(Phones, database=Container.database, shared_write=rule, clock=clock)  # type: ignore[arg-type]
    of(Container.settings, lambda it: it.shared_writing)  # type: ignore[attr-defined]
    Container.phones().no_such_method()  # type: ignore[attr-defined]


def container_in(folder: Path, **environment: str) -> Container:
    settings = read_settings({"PHONEPROV_DATA_DIR": str(folder), **environment})
    return container_with(settings, KEYS)


def test_use_case_is_made_without_what_it_does_not_use(tmp_path: Path) -> None:
    folder, wrong = tmp_path / "data", tmp_path / "no-certificates.pem"
    wrong.touch()
    container = container_in(folder, PHONEPROV_FTP_TLS="explicit", PHONEPROV_FTP_TLS_CA=str(wrong))

    assert container.audit() is container.audit()

    with pytest.raises(SettingsError, match=r"^PHONEPROV_FTP_TLS_CA"):
        container.switch_profile()


def test_resource_that_was_not_used_is_neither_made_nor_closed() -> None:
    steps: list[str] = []

    def make(name: str) -> Iterator[str]:
        steps.append("made")
        yield name
        steps.append("closed")

    used, unused = resource(make, name="used"), resource(make, name="unused")
    assert used() == used() == "used"
    for each in (used, unused):
        each.shutdown()

    assert steps == ["made", "closed"]


def test_parts_are_read_when_the_object_is_made() -> None:
    source = providers.Object([3, 1, 2])

    made = singleton(sorted, of(source), reverse=of(source, lambda it: it[0] == 3))

    assert made() == [3, 2, 1]
    assert made() is made()


def test_participants_of_a_deployment_are_in_the_order_of_their_locks(tmp_path: Path) -> None:
    container = container_in(tmp_path)

    participants = container.deploy().records.participants

    assert [type(one) for one in participants] == [KeepTexts, Occupancy]
    assert participants[1] is container.occupancy()
    assert [type(one) for one in container.preview_switch().foresee] == [WarnOfNoLine]
