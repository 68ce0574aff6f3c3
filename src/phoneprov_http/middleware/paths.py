"""One spelling for each path.

The framework decodes ``%2F``, joins empty segments and drops a last slash, so that
``//api//v1%2Fme/`` would reach ``/api/v1/me``, past a proxy that allows or refuses by path.
"""

import re
from typing import Any

from litestar.types import HTTPScope

_OTHER_SPELLING = re.compile(
    rb"//|/api/.*/$"
    # What RFC 3986 section 2.3 never encodes, and the slash.
    rb"|%(?:2[DEFdef]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])"
)


def refuse_other_spellings(scope: HTTPScope) -> None:
    """Change a path that is not spelled the one way into one that no route has."""
    raw: Any = scope.get("raw_path") or b""
    if _OTHER_SPELLING.search(raw):
        scope["path"] = "/" + raw.decode("latin-1").replace("/", "%2F")
