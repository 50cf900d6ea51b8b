"""What the controllers of one control plane share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from crossply.compose.function_messages import CAPABILITIES
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.pipeline_inspector import PipelineInspector
from crossply.control.composite_dependency_watches import Dependencies
from crossply.control.openapi_schema_cache import PublishedSchemas
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.kube.event_recorder import Recorder
from crossply.kube.sharding import ShardOwner, SingleReplica
from crossply.kube.shared_informers import SharedInformers
from crossply.runs.recorder import RunRecorder
from crossply.values.backoff import RetryPauses
from crossply.values.timestamps import current_timestamp

MOST_COMPOSED = 10_000


class CircuitLimits(NamedTuple):
    """How often a composite resource may be composed without an edit."""

    burst: float = 100.0
    refill: float = 1.0
    """Tokens a second."""
    cooldown: float = 300.0
    probe: float = 30.0
    """The seconds between two runs while the circuit is open."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Clients, informers, functions and settings; built once, before any controller."""

    as_controller: Client
    """The controllers' own rights: they read everything, and write what users see of it."""
    as_composer: Client
    """The rights for composed resources: a definition's service account, or the controllers themselves."""
    as_installer: Client
    """The rights for what no Composition may touch: CRDs, roles, revisions."""
    discovery: Discovery
    informers: SharedInformers
    recorder: Recorder
    dependencies: Dependencies
    schemas: PublishedSchemas
    shards: ShardOwner = field(default_factory=SingleReplica)
    """Which part of the work is this replica's."""
    functions: PipelineFunctions = field(default_factory=PipelineFunctions)
    capabilities: tuple[int, ...] = CAPABILITIES
    """What functions are offered."""
    circuit: CircuitLimits = field(default_factory=CircuitLimits)
    concurrency: int = 32
    """So many objects of a kind are reconciled at once."""
    most_composed: int = MOST_COMPOSED
    """A composite resource is made of no more resources than this."""
    retry: RetryPauses = field(default_factory=RetryPauses)
    """How long what failed waits for the next try."""
    shortest_poll: float = 1.0
    """The annotation for polling cannot ask for fewer seconds."""
    now: Callable[[], str] = current_timestamp
    runs: RunRecorder | None = None
    """Records the runs of pipelines; None where they are not recorded."""
    inspector: PipelineInspector | None = None
    """Gets every call of a function; None where there is none."""

    @property
    def composes_as_account(self) -> bool:
        """Whether composed resources are written as a service account, which may read less."""
        return self.as_composer is not self.as_controller


def plane_for(client: Client, functions: PipelineFunctions | None = None) -> Plane:
    """A plane with one client for everything, which is the only replica."""
    informers = SharedInformers(client)
    return Plane(
        client,
        client,
        client,
        Discovery(client),
        informers,
        Recorder(client, "crossply"),
        Dependencies(informers),
        PublishedSchemas(client),
        functions=functions or PipelineFunctions(),
    )
