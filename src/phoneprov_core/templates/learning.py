"""Learning a template from configurations that exist: the text that they have in common, and the
texts in which they differ.

Configurations with the same elements have one template. Nothing is guessed: what cannot be a value
stays part of the text, so that each configuration is rendered back byte for byte.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from phoneprov_core.templates.model import LONGEST_VALUE, MOST_VALUES

_PIECE = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[^<>]*>|[^<]+|<", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(\s[\w:.-]+\s*=\s*)(?:"([^"]*)"|'([^']*)')""")
_NAME = re.compile(r"<([\w:.-]+)")
_ATTRIBUTE_NAME = re.compile(r"([\w.-]+)\s*=\s*$")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_BARE = re.compile(r"[&\"'>\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BRACE = re.compile(r"\{(?=[{%#]|\Z)")


class Learned(Struct, frozen=True):
    """A template, and for each configuration, by its name, the values that give it back."""

    body: str
    values: Mapping[str, Mapping[str, str]]


class _Slot(Struct, frozen=True):
    """A place that may hold a value: the name of its element or attribute, and the text."""

    name: str
    text: str


_Part = str | _Slot


def learn(texts: Mapping[str, str], macs: Mapping[str, str]) -> list[Learned]:
    """The templates of configurations, by name; ``macs`` has the 12 digits of the phone of each
    name where they are known. The template of most configurations comes first."""
    groups: dict[tuple[str | None, ...], dict[str, list[_Part]]] = {}
    for name, text in texts.items():
        parts = _parts(text)
        shape = tuple(None if isinstance(part, _Slot) else part for part in parts)
        groups.setdefault(shape, {})[name] = parts
    learned = [_learned(group, macs) for group in groups.values()]
    return sorted(learned, key=lambda one: -len(one.values))


def _parts(text: str) -> list[_Part]:
    """Literals and slots, in turn or not; joined they are the text."""
    parts: list[_Part] = []
    element = "value"
    for piece in _PIECE.findall(text):
        if piece == "<" or piece.startswith(("<!", "<?", "</")):
            parts.append(piece)
        elif piece.startswith("<") and piece.endswith(">"):
            if found := _NAME.match(piece):
                element = found[1]
            _add_tag(parts, piece)
        else:
            _add_slot(parts, element, piece)
    return parts


def _add_tag(parts: list[_Part], tag: str) -> None:
    done = 0
    for found in _ATTRIBUTE.finditer(tag):
        group = 2 if found[2] is not None else 3
        parts.append(tag[done : found.start(group)])
        named = _ATTRIBUTE_NAME.search(found[1])
        _add_slot(parts, named[1] if named else "value", found[group])
        done = found.end(group)
    parts.append(tag[done:])


def _add_slot(parts: list[_Part], name: str, text: str) -> None:
    """A text that can be a value; another one is literal, and so is white space."""
    is_value = text.strip() and len(text) <= LONGEST_VALUE and _plain(text) is not None
    parts.append(_Slot(name, text) if is_value else text)


def _plain(text: str) -> str | None:
    """The text that is escaped as this one, or None."""
    if _BARE.search(_ENTITY.sub("", text)):
        return None
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)


def _learned(group: Mapping[str, Sequence[_Part]], macs: Mapping[str, str]) -> Learned:
    names = list(group)
    columns = list(zip(*group.values(), strict=True))
    differing: dict[tuple[str, ...], str] = {}
    taken: Counter[str] = Counter()
    values: dict[str, dict[str, str]] = {name: {} for name in names}
    body = []
    for column in columns:
        first = column[0]
        if not isinstance(first, _Slot):
            body.append(_literal(first))
            continue
        texts = tuple(slot.text for slot in column if isinstance(slot, _Slot))
        by_mac = _with_mac(texts, [macs.get(name, "") for name in names])
        if by_mac is not None:
            body.append(by_mac)
        elif len(set(texts)) == 1:
            body.append(_literal(first.text))
        else:
            key = differing.get(texts)
            if key is None and len(differing) < MOST_VALUES:
                key = differing[texts] = _key(first.name, taken)
                for name, text in zip(names, texts, strict=True):
                    values[name][key] = _plain(text) or ""
            body.append("" if key is None else f"{{{{ values.{key} }}}}")
    return Learned("".join(body), values)


def _with_mac(texts: Sequence[str], macs: Sequence[str]) -> str | None:
    """The text with the MAC of the phone, if each has its own at the same place."""
    around = set()
    for text, mac in zip(texts, macs, strict=True):
        for written, name in ((mac, "phone.hex"), (":".join(re.findall("..", mac)), "phone.mac")):
            if mac and text.count(written) == 1:
                before, after = text.split(written)
                around.add((before, after, name))
                break
        else:
            return None
    if len(around) != 1:
        return None
    before, after, name = around.pop()
    return f"{_literal(before)}{{{{ {name} }}}}{_literal(after)}"


def _key(name: str, taken: Counter[str]) -> str:
    key = re.sub("[^A-Za-z0-9]", "_", name)[:50]
    if not key[:1].isalpha() or not key.isascii():
        key = "value"
    taken[key] += 1
    return key if taken[key] == 1 else f"{key}_{taken[key]}"


def _literal(text: str) -> str:
    """A text as it is written in a template."""
    return _BRACE.sub("{{ '{' }}", text)
