"""The computation of a dry run over configurations."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from xml.parsers import expat

from msgspec import Struct

from phoneprov_core.configuration.diff import unified_diff
from phoneprov_core.configuration.findings import Finding
from phoneprov_core.configuration.lint import lint
from phoneprov_core.configuration.masking import NumberedStars, Places, blanked, masked, repeated
from phoneprov_core.configuration.well_formed import fault_in
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.secrets import Mask, stars

# Firmware, locale, date and time and the addresses of services are read when a phone starts
# completely; lines, keys and speed dials also after a restart (Cisco's CME documentation).
_LOAD = "loadInformation"
_NEED_RESET = frozenset(
    {
        _LOAD, "userLocale", "networkLocale", "networkLocaleInfo", "dateTimeSetting",
        "authenticationURL", "directoryURL", "idleURL", "informationURL", "messagesURL",
        "proxyServerURL", "servicesURL",
        "secureAuthenticationURL", "secureDirectoryURL", "secureIdleURL", "secureInformationURL",
        "secureMessagesURL", "secureServicesURL",
    }
)  # fmt: skip


def needing_reset(old: str, new: str) -> tuple[str, ...]:
    """The names of the elements that differ and take effect after a reset only, sorted. Both texts
    are without a fault (see ``well_formed``). The cost is linear."""
    before, after = _values(old), _values(new)
    return tuple(
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    )


def _values(xml: str) -> dict[str, list[str]]:
    """The elements that need a reset: per name, their content in document order."""
    found: dict[str, list[str]] = {}
    content: list[str] = []
    inside = ""
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside, depth
        if not inside:
            # Multi-model files add a number: loadInformation307.
            known = _LOAD if name.startswith(_LOAD) else name
            if known not in _NEED_RESET:
                return
            inside = known
        content.append(f"<{name} {sorted(attributes.items())}>")
        depth += 1

    def text(data: str) -> None:
        if inside:
            content.append(data)

    def end(_name: str) -> None:
        nonlocal inside, depth
        if not inside:
            return
        depth -= 1
        if not depth:
            found.setdefault(inside, []).append(" ".join("".join(content).split()))
            content.clear()
            inside = ""

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = end
    parser.Parse(xml.encode(), True)
    return found


class Comparison(Redacted, frozen=True, kw_only=True):
    """A configuration, and the one to compare it with (None: no diff).

    Both are without a fault (see ``well_formed``). ``mac`` and ``family`` are those of ``lint``,
    ``old_secrets`` and ``new_secrets`` the ``known`` places of ``masked``. With ``is_private`` the
    caller may not read one of them and may have written the other: nothing says whether two secrets
    are the same. With ``is_foreign``
    another program wrote the new text: it may have a fault, and what is secret in the old one is so
    in it, too.
    """

    old: Annotated[str | None, SECRET]
    new: Annotated[str, SECRET]
    old_label: str = ""
    new_label: str = ""
    mac: str | None = None
    family: str | None = None
    old_secrets: Places = ()
    new_secrets: Places = ()
    is_foreign: bool = False
    is_private: bool = False


class Compared(Struct, frozen=True):
    """The unified diff of the masked texts, the names of the changed elements that take effect
    after a reset only, and the findings in the new text. Of a foreign text the diff alone, which is
    None if the text has a fault."""

    diff: str | None
    needs_reset: tuple[str, ...]
    findings: tuple[Finding, ...]


def compare(comparison: Comparison) -> Compared:
    """Compute all three. The cost is linear: at most about a second for two texts of 512 KiB."""
    old, new, new_secrets = comparison.old, comparison.new, comparison.new_secrets
    if comparison.is_foreign:
        if fault_in(new.encode()) is not None:
            return Compared(None, (), ())
        new_secrets = repeated(old or "", comparison.old_secrets, new)
    diff = None
    if old is not None:
        mask: Mask = stars if comparison.is_private else NumberedStars()
        hidden = (
            masked(old, mask, comparison.old_secrets),
            masked(new, mask, new_secrets),
        )
        diff = unified_diff(
            *hidden,
            old_label=comparison.old_label,
            new_label=comparison.new_label,
        )
    if comparison.is_foreign:
        return Compared(diff, (), ())
    content = blanked(new.encode(), new_secrets)
    findings = lint(
        content, mac=comparison.mac, family=comparison.family, largest=max(len(content), 1)
    )
    if old is None:
        return Compared(diff, (), findings)
    compared = hidden if comparison.is_private else (old, new)
    return Compared(diff, needing_reset(*compared), findings)


Compare = Callable[[Comparison], Awaitable[Compared]]
"""Port: the result of ``compare``, computed without blocking other requests.

Raises ``Unavailable`` if the computation does not finish in time.
"""
