"""Flags for replicas of `crossply controller`: their shards and Leases."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.kube.lease_objects import Timing
    from crossply.kube.sharding import ShardOwner

REPLICA_FLAGS = (
    Flag(
        "namespace",
        "The namespace of the control plane: of its Leases, of the Deployments of packages, and "
        "of Secrets with certificates.",
        short="n",
        kind="string",
        default="crossplane-system",
        env="POD_NAMESPACE",
    ),
    Flag(
        "replica",
        "The identity of this replica in Leases. Defaults to the host name.",
        kind="string",
        env="POD_NAME",
    ),
    Flag(
        "shards",
        "The number of shards that replicas divide the work into. The first replica sets it; to "
        "change it, stop all replicas and delete the Lease crossply-shards. 0 runs without "
        "Leases: make sure that only one replica runs.",
        kind="int",
        default=16,
        placeholder="16",
        env="SHARDS",
    ),
    Flag(
        "lease-duration",
        "How long until an unresponsive replica's shards are reassigned. A write may take a third of it.",
        kind="duration",
        default="12s",
        placeholder="12s",
        env="LEASE_DURATION",
    ),
    Flag(
        "leader-election",
        "No effect: all replicas work, each on its own shards, so there is no leader.",
        short="l",
        env="LEADER_ELECTION",
        no_effect="all replicas work, each on its own shards, so there is no leader",
    ),
)


def timing_of(invocation: Invocation) -> Timing:
    """How long what lasts."""
    from crossply.kube.lease_objects import Timing

    if invocation["lease-duration"] < 1.0:
        raise UsageError("--lease-duration: the minimum is 1s")
    return Timing.lasting(invocation["lease-duration"])


def shards_of(invocation: Invocation, client: Client) -> ShardOwner | None:
    """This replica's part, or None if it is to do everything."""
    from crossply.kube.leased_shards import LeasedShards
    from crossply.kube.replica_heartbeat import kernel_alarm

    if invocation["shards"] < 1:
        return None
    return LeasedShards(
        client,
        namespace=invocation["namespace"],
        count=invocation["shards"],
        replica=invocation["replica"] or "",
        timing=timing_of(invocation),
        watchdog=kernel_alarm,
    )
