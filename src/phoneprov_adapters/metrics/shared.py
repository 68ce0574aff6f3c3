"""The folder into which several worker processes count.

prometheus-client reads the variable when it is loaded: set it before a worker starts.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_counts() -> Iterator[None]:
    """Make the folder, empty, and name it in the environment of workers that start from now on.
    A folder that the environment names already is made or emptied, and stays."""
    if named := os.environ.get(FOLDER):
        folder = Path(named)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for file in folder.glob("*.db"):
            file.unlink(missing_ok=True)
        yield
        return
    with tempfile.TemporaryDirectory(prefix="phoneprov-metrics-", ignore_cleanup_errors=True) as at:
        os.environ[FOLDER] = at
        try:
            yield
        finally:
            os.environ.pop(FOLDER, None)
