"""Two configurations of a phone with what was given to their templates replaced by its names."""

import re
from collections.abc import Sequence

from phoneprov_core.configuration.well_formed import fault_in
from phoneprov_core.phones.model import Phone
from phoneprov_core.templates.ports import Mark, Rendered

_SHORTEST = 3
"""Minimum number of characters of a value that is looked for in a text without marks."""


def known_values(phone: Phone, *texts: Rendered | None) -> dict[str, str]:
    """The values of a phone and its user, with their names: what is replaced in a text without
    marks."""
    values = {phone.mac: "phone.mac", phone.mac.replace(":", ""): "phone.hex"}
    for rendered in texts:
        content = rendered.text.encode() if rendered else b""
        for mark in rendered.marks if rendered else ():
            value = content[mark.start : mark.end].decode()
            if (
                len(value) >= _SHORTEST
                and " " not in mark.name
                and not mark.name.startswith("values.")
            ):
                values.setdefault(value, mark.name)
    return values


def named(old: Rendered | None, new: Rendered, known: dict[str, str]) -> tuple[str, str]:
    """Both texts with given values replaced by their names. A value that itself differs between
    the two shows in which of them it is; a text of ``values`` that differs is shown."""
    before, after = old or Rendered(""), new
    was, is_now = _values(before), _values(after)
    both = was.keys() & is_now.keys()
    same = {name for name in both if was[name] == is_now[name]}
    texts = []
    for rendered, side in ((before, "before"), (after, "after")):
        if rendered.marks:
            text = _replaced(rendered, same, both - same, side)
        else:
            text = _by_value(rendered.text, known)
        # A name in a place where XML has no text would make it ill-formed.
        faulty = rendered.text and fault_in(text.encode()) is not None
        texts.append(_without_secrets(rendered) if faulty else text)
    return texts[0], texts[1]


def _without_secrets(rendered: Rendered) -> str:
    """The text with a word for each secret, which may be in the name of an element."""
    content, pieces, done = rendered.text.encode(), [], 0
    words: dict[bytes, bytes] = {}
    for mark in rendered.marks:
        if mark.secret:
            word = words.setdefault(content[mark.start : mark.end], b"secret%d" % len(words))
            pieces += [content[done : mark.start], word]
            done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _values(rendered: Rendered) -> dict[str, list[bytes]]:
    content = rendered.text.encode()
    values: dict[str, list[bytes]] = {}
    for mark in rendered.marks:
        found = values.setdefault(mark.name, [])
        value = content[mark.start : mark.end]
        if value not in found:
            found.append(value)
    return values


def _replaced(rendered: Rendered, same: set[str], differ: set[str], side: str) -> str:
    content, pieces, done = rendered.text.encode(), [], 0
    for mark in rendered.marks:
        pieces.append(content[done : mark.start])
        if mark.name in differ and (mark.secret or not _is_value(mark)):
            pieces.append(f"{{{{ {mark.name}, {side} }}}}".encode())
        elif mark.name in same or mark.secret or not _is_value(mark):
            pieces.append(f"{{{{ {mark.name} }}}}".encode())
        else:
            pieces.append(content[mark.start : mark.end])
        done = mark.end
    return b"".join([*pieces, content[done:]]).decode()


def _is_value(mark: Mark) -> bool:
    """Whether it is a text of the profile, which is shown when it changes."""
    return mark.name.startswith("values.")


def _by_value(text: str, known: dict[str, str]) -> str:
    longest_first: Sequence[str] = sorted(known, key=len, reverse=True)
    pattern = "|".join(re.escape(value) for value in longest_first)
    return re.sub(
        rf"(?<![0-9A-Za-z])(?:{pattern})(?![0-9A-Za-z])|(?<=SEP)(?:{pattern})",
        lambda match: f"{{{{ {known[match[0]]} }}}}",
        text,
    )
