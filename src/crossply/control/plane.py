"""What the controllers of one control plane share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from crossply.compose.messages import CAPABILITIES
from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.composites.circuit import Limits
from crossply.control.composites.dependencies import Dependencies
from crossply.control.composites.published_schemas import PublishedSchemas
from crossply.control.event_recorder import Recorder
from crossply.kube.backoff import RetryPauses
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.kube.sharding import ShardOwner, SingleReplica
from crossply.kube.shared_informers import SharedInformers
from crossply.values.timestamps import current_timestamp

MOST_COMPOSED = 10_000


@dataclass(frozen=True, slots=True)
class Plane:
    """Clients, informers, functions and settings; built once, before any controller."""

    client: Client
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
    circuit: Limits = field(default_factory=Limits)
    concurrency: int = 32
    """So many objects of a kind are reconciled at once."""
    most_composed: int = MOST_COMPOSED
    """A composite resource is made of no more resources than this."""
    retry: RetryPauses = field(default_factory=RetryPauses)
    """How long what failed waits for the next try."""
    shortest_poll: float = 1.0
    """The annotation for polling cannot ask for fewer seconds."""
    now: Callable[[], str] = current_timestamp
    reporting: Client | None = None
    """Who writes to composite resources themselves where `client` acts as somebody else."""
    keeper: Client | None = None
    """Who writes what no Composition may touch, where that is another user than who composes."""

    @property
    def keeping(self) -> Client:
        """Who writes what definitions and Compositions stand for: CRDs, roles, revisions."""
        return self.keeper or self.client

    @property
    def acts_for_account(self) -> bool:
        """Whether `client` impersonates a service account: then nothing that the controllers read counts."""
        return self.reporting is not None

    @property
    def own(self) -> Client:
        """The controllers themselves, also where `client` acts as somebody else."""
        return self.reporting or self.client


def plane_for(client: Client, functions: PipelineFunctions | None = None) -> Plane:
    """What controllers need, all by one client."""
    informers = SharedInformers(client)
    return Plane(
        client,
        Discovery(client),
        informers,
        Recorder(client, "crossply"),
        Dependencies(informers),
        PublishedSchemas(client),
        functions=functions or PipelineFunctions(),
    )
