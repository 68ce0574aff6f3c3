"""Where routes are put together."""

from __future__ import annotations

import litestar


class Router(litestar.Router):
    """Routes under one path, put under one other router or into one application.

    The framework copies a router with all that is in it for each place that it is put in, which
    takes as long as to make all the rest of an application. This one has a single place.
    """

    def __deepcopy__(self, _memo: object) -> Router:
        return self
