"""Send random requests to the service: make schemathesis-long.

Every round has another seed. Exits with 1 at the first response that the document does not
describe, and prints the response with its request.
"""

import logging
import sys
import tempfile
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from phoneprov_http.main.commands.serve import describe
from support.fuzz import Fuzz
from support.served import served


@click.command()
@click.option("--cases", default=50_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def fuzz(cases: int, seed: int) -> None:
    """Send at least CASES requests."""
    logging.disable(logging.INFO)
    began = time.monotonic()
    asked = 0
    with tempfile.TemporaryDirectory() as folder:
        while asked < cases:
            # Each round has a new service: growing lists make every case slower.
            data = Path(folder) / str(seed)
            data.mkdir()
            with served(data, {"PUBLIC_REGISTER": "true"}) as service:
                asker = Fuzz(describe())
                asker.begin(service)
                for label in asker.labels:
                    asked += asker.at_random(label, examples=60, seed=seed)
                asker.end()
            click.echo(f"{asked} cases, {time.monotonic() - began:.0f} s")
            seed += 1
    click.echo(f"{asked} cases of {len(asker.labels)} operations: every response is as described.")


if __name__ == "__main__":
    fuzz()
