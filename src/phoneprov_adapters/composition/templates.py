"""Templates of configurations."""

from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    new_id,
    renderer,
    setting,
)
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_core.features.templates.deployed import KeepTexts, TryTemplate
from phoneprov_core.features.templates.use_cases import Templates


class TemplatesContainer(SwitchingContainer):
    """Templates of configurations."""

    # fmt: off
    templates = singleton(
        Templates, database=database, renderer=renderer, clock=clock, new_id=new_id,
        largest_xml=setting(lambda it: it.cnf_xml_max),
        most_revisions=setting(lambda it: it.most_revisions))
    try_template = singleton(
        TryTemplate, database=database, rendering=of(Adapters.rendering),
        compare=of(Adapters.compare))
    keep_texts = singleton(KeepTexts)
    # fmt: on
