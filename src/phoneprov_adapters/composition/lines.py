"""Lines and endpoints that Asterisk asks for, and drills of its dialplan."""

from phoneprov_adapters.asterisk.drills import ManagerDrills
from phoneprov_adapters.composition.adapters import (
    Adapters,
    clock,
    database,
    new_id,
    over,
    pause,
    setting,
)
from phoneprov_adapters.composition.plugins import of, singleton
from phoneprov_adapters.composition.switching import SwitchingContainer
from phoneprov_core.features.lines.drills import Drills
from phoneprov_core.features.lines.numbers import Numbers
from phoneprov_core.features.lines.use_cases import Lines, PjsipObjects, WarnOfNoLine


class LinesContainer(SwitchingContainer):
    """Lines and endpoints that Asterisk asks for, and drills."""

    # fmt: off
    lines = singleton(
        Lines, database=database, clock=clock, context=setting(lambda it: it.asterisk_context),
        sounds=setting(lambda it: it.asterisk_languages))
    numbers = singleton(Numbers, database=database, clock=clock)
    pjsip = singleton(
        PjsipObjects, database=database, clock=clock,
        context=setting(lambda it: it.asterisk_context),
        sounds=setting(lambda it: it.asterisk_languages))
    drill_exchange = singleton(over, connection=of(Adapters.ami), make=ManagerDrills)
    drills = singleton(
        Drills, database=database, exchange=of(drill_exchange), clock=clock, new_id=new_id,
        pause=pause)
    warn_of_no_line = singleton(
        WarnOfNoLine, database=database, serves_lines=setting(lambda it: it.serves_lines))
    # fmt: on
