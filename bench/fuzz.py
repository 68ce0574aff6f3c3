"""Ask the service at random until so many cases were asked: make schemathesis-long.

Every round takes another seed. Ends with 1 at the first reply that the document does not
describe, which is shown with the request that caused it.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from phoneprov_http.main.commands.openapi import describe
from support.fuzz import Fuzz
from support.served import served


@click.command()
@click.option("--cases", default=50_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def fuzz(cases: int, seed: int) -> None:
    """Ask at least CASES times."""
    logging.disable(logging.INFO)
    began = time.monotonic()
    asked = 0
    with tempfile.TemporaryDirectory() as folder:
        while asked < cases:
            # A service of its own for each round: lists that grow make every case slower.
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
    click.echo(f"{asked} cases of {len(asker.labels)} operations: every reply was as described.")


if __name__ == "__main__":
    fuzz()
