"""What the controllers of one control plane share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crossply.control.pipeline_functions import PipelineFunctions
from crossply.control.recording import Recorder
from crossply.control.required import Required
from crossply.kube.caches import Caches
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Plane:
    """Client, caches and functions."""

    client: Client
    discovery: Discovery
    caches: Caches
    recorder: Recorder
    required: Required
    functions: PipelineFunctions = field(default_factory=PipelineFunctions)
    now: Callable[[], str] = _now
