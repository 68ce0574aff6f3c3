"""Rehearsals of batches."""

from dataclasses import replace
from typing import Any

from phoneprov_adapters.composition.adapters import Adapters, clock, database
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.settings import Settings
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_adapters.composition.table import declared
from phoneprov_adapters.composition.variables import Variables
from phoneprov_adapters.rehearsal.process import TwinProcess
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.rehearsal.foresight import RehearseBatch

_HIDDEN = "a value that a twin does not need"


def without_secrets(settings: Settings) -> Settings:
    """The settings without passwords, tokens, keys and the address of the database. A secret that
    is set stays set: it may turn something on."""
    hidden: dict[str, Any] = {
        field: _HIDDEN
        for field, setting in declared()
        if setting.form.is_secret and getattr(settings, field)
    }
    return replace(settings, **hidden, variables=Variables({}))


def stage_of(settings: Settings, database: Database) -> TwinProcess:
    """Where batches are rehearsed."""
    return TwinProcess(database, without_secrets(settings))


class RehearsalContainer(SwitchingContainer):
    """Rehearsals of batches."""

    # fmt: off
    stage = singleton(
        stage_of, settings=of(Adapters.settings), database=database)
    rehearse_batch = singleton(RehearseBatch, database=database, stage=of(stage), clock=clock)
    # fmt: on
