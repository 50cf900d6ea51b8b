"""Controllers that retry nothing during a test: a waiting object must be enqueued by its watch."""

from __future__ import annotations

from typing import Any

from crossply.control.options import Options
from crossply.kube.backoff import RetryPauses
from tests.support.e2e.pipelines import entry, resources

HOUR = 3600.0
OPTIONS = Options(retry=RetryPauses(HOUR, HOUR), operations=True)


def one_config_map(name: str = "one") -> Any:
    """A pipeline of one ConfigMap."""
    return resources(entry(name))
