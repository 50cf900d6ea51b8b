"""How the replicas of `crossply controller` share their work, as flags."""

from __future__ import annotations

from crossply.cli.framework.command import Flag, Invocation, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.kube.leases import Timing
    from crossply.kube.sharding import ShardOwner

REPLICA_FLAGS = (
    Flag(
        "namespace",
        "The namespace of the control plane: of the Leases that replicas share their work by, of what runs "
        "packages, and of Secrets with certificates.",
        short="n",
        kind="string",
        default="crossplane-system",
        env="POD_NAMESPACE",
    ),
    Flag(
        "replica",
        "What this replica is called in the Leases; the name of the machine if nothing else is said.",
        kind="string",
        env="POD_NAME",
    ),
    Flag(
        "shards",
        "How many parts the work is divided into, each for one replica at a time. The first replica decides; "
        "to change it, stop all and delete the Lease crossply-shards. 0 runs alone and without Leases: then "
        "nothing keeps a second one from doing the same.",
        kind="int",
        default=16,
        placeholder="16",
        env="SHARDS",
    ),
    Flag(
        "lease-duration",
        "How long a replica that is not heard of keeps its part. A write may take a third of it.",
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
    from crossply.kube.leases import Timing

    if invocation["lease-duration"] < 1.0:
        raise UsageError("--lease-duration: a replica needs at least 1s to be heard of")
    return Timing.lasting(invocation["lease-duration"])


def shards_of(invocation: Invocation, client: Client) -> ShardOwner | None:
    """This replica's part, or None if it is to do everything."""
    from crossply.kube.heartbeat import kernel_alarm
    from crossply.kube.leased_shards import LeasedShards

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
