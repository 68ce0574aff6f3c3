"""The log lines of a deployment."""

import logging

import pytest

from phoneprov_adapters.runtime.tasks import log_deployment
from phoneprov_core.switching.deployments.model import Outcome, Step, StepName
from support.phone_records import a_deployment
from support.records import a_mac

DONE = a_deployment(
    1,
    a_mac(1),
    outcome=Outcome.DEPLOYED,
    steps=(Step(StepName.UPLOAD, True, "the old file was moved aside first", 12),),
)


def test_journal_line_contains_the_deployment_and_its_steps(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="phoneprov.deployments"):
        log_deployment(DONE)

    (line,) = caplog.records
    fields = line.__dict__["fields"]
    assert (line.getMessage(), line.levelno) == ("deployment", logging.INFO)
    assert (fields["uuid"], fields["mac"], fields["outcome"]) == (DONE.uuid, DONE.mac, "deployed")
    assert list(fields["steps"]) == [
        {
            "name": "upload",
            "ok": True,
            "message": "the old file was moved aside first",
            "duration_ms": 12,
        }
    ]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INTERRUPTED])
def test_failures_are_logged_as_warnings(
    caplog: pytest.LogCaptureFixture, outcome: Outcome
) -> None:
    log_deployment(a_deployment(1, a_mac(1), outcome=outcome))

    assert [line.levelno for line in caplog.records] == [logging.WARNING]
