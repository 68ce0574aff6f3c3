"""The command line of a service whose application cannot be opened, for the error that the variable
``REFUSED`` names."""

import errno
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.main.cli import main
from phoneprov_http.main.server import asgi

ERRORS = {
    "thread": RuntimeError("can't start new thread"),
    "memory": MemoryError(),
    "files": OSError(errno.EMFILE, "Too many open files"),
    "database": Unavailable("The file of the database is damaged."),
    "fault": KeyError("of the program"),
}


@asynccontextmanager
async def refused(*_: object, **__: object) -> AsyncIterator[None]:
    raise ERRORS[os.environ["REFUSED"]]
    yield


# Importing this module changes nothing; a worker process is started with it as its main module.
if __name__ in {"__main__", "__mp_main__"}:
    vars(asgi)["running"] = refused

if __name__ == "__main__":
    main(sys.argv[1:])
