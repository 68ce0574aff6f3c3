"""Moments that callers send."""

import pytest

from phoneprov_core.kernel.values import moment


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("2026-01-31T08:15:30Z", "2026-01-31T08:15:30.000Z"),
        ("2026-01-31t08:15:30.25z", "2026-01-31T08:15:30.250Z"),
        ("2026-01-31T08:15:30+01:00", "2026-01-31T07:15:30.000Z"),
    ],
)
def test_moment_of_rfc_3339_is_shown_in_utc(sent: str, shown: str) -> None:
    assert moment(sent) == shown


@pytest.mark.parametrize(
    "sent", ["2026-01-31", "20260131T081530Z", "2026-01-31T08:15:30", "2026-W05-6T08:15:30Z", ""]
)
def test_moment_in_another_form_is_refused(sent: str) -> None:
    """Python reads each of them but the last."""
    with pytest.raises(ValueError):
        moment(sent)
