"""When a composite resource is reconciled although nothing happened."""

from __future__ import annotations

import pytest

from crossply.control.composites.polling import poll_interval, spread


@pytest.mark.parametrize(
    ("annotation", "seconds", "why"),
    [
        ("30s", 30.0, "as asked"),
        ("1h30m", 5400.0, "a Go duration of several parts"),
        ("10ms", 1.0, "no faster than whoever runs us allows"),
        ("0s", None, "zero is never"),
        ("-5s", None, "the past is never"),
        ("soon", None, "nonsense is never"),
        ("", None, "nothing asked for"),
    ],
)
def test_the_annotation_sets_the_interval(annotation, seconds, why) -> None:
    xr = {"metadata": {"annotations": {"crossplane.io/poll-interval": annotation}}}
    assert poll_interval(xr, shortest=1.0) == seconds, why


def test_simultaneous_polls_drift_apart() -> None:
    times = {spread(100.0) for _ in range(50)}
    assert all(90 <= time <= 110 for time in times)
    assert len(times) > 1
