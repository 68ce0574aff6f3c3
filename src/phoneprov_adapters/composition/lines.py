"""Lines and endpoints that Asterisk asks for."""

from phoneprov_adapters.composition.adapters import clock, database, setting
from phoneprov_adapters.composition.plugins import singleton
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_core.features.lines.pjsip import PjsipObjects
from phoneprov_core.features.lines.use_cases import Lines, WarnOfNoLine


class LinesContainer(SwitchingContainer):
    """Lines and endpoints that Asterisk asks for."""

    # fmt: off
    lines = singleton(
        Lines, database=database, clock=clock, context=setting(lambda it: it.asterisk_context),
        sounds=setting(lambda it: it.asterisk_languages))
    pjsip = singleton(
        PjsipObjects, database=database, clock=clock,
        context=setting(lambda it: it.asterisk_context),
        sounds=setting(lambda it: it.asterisk_languages))
    warn_of_no_line = singleton(
        WarnOfNoLine, database=database, serves_lines=setting(lambda it: it.serves_lines))
    # fmt: on
