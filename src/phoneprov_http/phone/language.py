"""The languages of the pages for phones: gettext catalogs, and which of them a page is read from.

A text in a page is English, and the key of its translations. A text that a catalog lacks is English
on the phone, too.
"""

import gettext
import re
import struct
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from phoneprov_core.features.desks.pages import encodable, weighted
from phoneprov_core.kernel.values import language_tags

DOMAIN = "phoneprov"
BUNDLED = Path(__file__).with_name("locale")
ENGLISH = "en"

PLACEHOLDER = re.compile(r"\{([a-z]+)\}")

SPELLED = {
    "de": {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"},
    "es": {"¿": "", "¡": ""},
    "it": {letter: f"{plain}'" for letter, plain in zip("àèéìòùÈ", "aeeiouE", strict=True)},
}
"""How a language writes letters that a character set lacks, if not without their accents."""


class Say(Protocol):
    """Texts of one language."""

    def __call__(self, text: str, **values: str) -> str:
        """The text in this language, each ``{name}`` replaced by its value."""


def later(text: str) -> str:
    """Mark a text that is translated where it is shown."""
    return text


class BrokenCatalog(ValueError):
    """A file is not a compiled catalog."""


class Languages:
    """The catalogs of this package, and of a folder of the same form
    (``de/LC_MESSAGES/phoneprov.mo``), whose texts come first. ``default`` is the language of phones
    that name none. Raises ``BrokenCatalog``, and ``ValueError`` for a default without one."""

    def __init__(self, folder: Path | None = None, default: str = ENGLISH) -> None:
        self._catalogs: dict[str, list[gettext.NullTranslations]] = {}
        for place in (folder, BUNDLED):
            for path in sorted(place.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")) if place else ():
                self._catalogs.setdefault(language_tags(path.parts[-3])[0], []).append(_read(path))
        known = self._known(default)
        if known is None:
            names = ", ".join(sorted({ENGLISH, *self._catalogs}))
            raise ValueError(f"there is no catalog for {default}, only for {names}")
        self._default = known
        self._cached = lru_cache(256)(self._texts)

    def of_phone(self, accepted: str, charset: str) -> Say:
        """The first language of an ``Accept-Language`` that has a catalog, else the default."""
        for tag in weighted(accepted):
            known = self._default if tag == "*" else self._known(tag)
            if known is not None:
                return self._cached(known, charset)
        return self._cached(self._default, charset)

    def of_user(self, lang: str, charset: str) -> Say:
        """The language of a user, English without a catalog for it."""
        return self._cached(self._known(lang) or (), charset)

    def _known(self, tag: str) -> tuple[str, ...] | None:
        """The catalogs for a tag: ``de-CH``, then ``de``. None without one; English needs none."""
        tags = language_tags(tag)
        known = tuple(one for one in tags if one in self._catalogs)
        return known if known or ENGLISH in tags else None

    def _texts(self, names: tuple[str, ...], charset: str) -> Say:
        catalogs = [one for name in (*names, ENGLISH) for one in self._catalogs.get(name, ())]
        spelled = SPELLED.get(names[0][:2], {}) if names else {}
        lacking = {one: by for one, by in spelled.items() if not encodable(one, charset)}
        table = str.maketrans(lacking)

        @lru_cache(256)
        def translated(text: str) -> str:
            holes = set(PLACEHOLDER.findall(text))
            for catalog in catalogs:
                found = catalog.gettext(text)
                # A translation with other placeholders would show them, or hide a value.
                if found != text and set(PLACEHOLDER.findall(found)) == holes:
                    return found.translate(table)
            return text

        def say(text: str, **values: str) -> str:
            return PLACEHOLDER.sub(lambda hole: values.get(hole[1], hole[0]), translated(text))

        return say


def local_time(say: Say, moment: str, timezone: str) -> str | None:
    """A shown moment as date and time of a time zone; None if this machine lacks the zone."""
    try:
        at = datetime.fromisoformat(moment).astimezone(ZoneInfo(timezone))
    except (KeyError, ValueError, OSError):
        return None
    year, month, day, hour, minute = f"{at:%Y %m %d %H %M}".split()
    return say(
        "{year}-{month}-{day} {hour}:{minute}",
        year=year,
        month=month,
        day=day,
        hour=hour,
        minute=minute,
    )


def _read(path: Path) -> gettext.NullTranslations:
    try:
        with path.open("rb") as file:
            return gettext.GNUTranslations(file)
    except (OSError, ValueError, LookupError, struct.error) as error:
        raise BrokenCatalog(f"{path} is not a compiled catalog ({error})") from None
