"""The texts of pages for phones, and how a phone shows their translations."""

import gettext
import re
from collections.abc import Callable

from phoneprov_core.features.desks.pages import encodable
from phoneprov_core.kernel.search import plain
from phoneprov_http.phone.language import BUNDLED, DOMAIN, PLACEHOLDER, SPELLED

ENGLISH_TEXTS = re.findall(
    r'^msgid "(.+)"$', (BUNDLED / "phoneprov.pot").read_text(encoding="utf-8"), re.MULTILINE
)


def translated(lang: str, text: str) -> str:
    """The translation in the catalog; the text itself without one."""
    return gettext.translation(DOMAIN, BUNDLED, [lang], fallback=True).gettext(text)


def written(text: str, lang: str, charset: str) -> str:
    """A text of a language in the letters of a character set."""
    for letter, by in SPELLED.get(lang, {}).items():
        if not encodable(letter, charset):
            text = text.replace(letter, by)
    return "".join(one if encodable(one, charset) else plain(one) for one in text)


def patterns(lang: str, charset: str) -> Callable[[str], str]:
    """The pattern of what a phone shows for a text, any value for each placeholder."""

    def pattern(text: str) -> str:
        parts = PLACEHOLDER.split(translated(lang, text))[::2]
        return ".+".join(re.escape(written(part, lang, charset)) for part in parts)

    return pattern
