"""The Lease objects that replicas share work by, and what they mean.

There are two sorts. A *member* Lease is a replica's heartbeat: the replica renews it, and it is gone once the
replica has left or was evicted. A *shard* Lease says which member has a shard; it is written only when that
changes. So a settled control plane writes one Lease a replica every few seconds, however many shards it has.
One Lease more is the group's own: it says how many shards there are.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.timestamps import current_timestamp

LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", True)


class Timing(NamedTuple):
    """How long what lasts, in seconds. What a lost member had on its way ends before its lease does."""

    renew: float = 2.0
    """A member renews its heartbeat this often."""
    fence: float = 4.5
    """So long after it *sent* its last renewal a member still begins to write as the holder of its shards."""
    dead: float = 6.5
    """So long after it the kernel ends a member that was frozen meanwhile and has not noticed."""
    transit: float = 1.5
    """A write that the server has not received so long after it was sent is given up."""
    landing: float = 4.0
    """The server drops a write that it has not finished so long after it received it."""
    lease: float = 12.0
    """So long after they *saw* its last renewal others may evict a member."""

    @classmethod
    def lasting(cls, lease: float) -> Timing:
        """The same proportions for another lease."""
        scale = lease / cls().lease
        return cls(*(seconds * scale for seconds in cls()))


GROUP_LABEL = "crossply.io/lease-group"
COUNT_ANNOTATION = "crossply.io/shards"


def group_selector(group: str) -> str:
    """Selects the Leases of one group of replicas."""
    return f"{GROUP_LABEL}={group}"


def group_name(group: str) -> str:
    """The name of the Lease with the settings that all members of a group share."""
    return f"{group}-shards"


def group_lease(group: str, namespace: str, count: int) -> Object:
    """The Lease that says how many shards a group has."""
    lease = new_lease(group, namespace, group_name(group))
    return {**lease, "metadata": {**lease["metadata"], "annotations": {COUNT_ANNOTATION: str(count)}}}


def count_of(lease: Object) -> int:
    """How many shards a group has, by its Lease."""
    return int(lease["metadata"]["annotations"][COUNT_ANNOTATION])


def member_name(group: str, member: str) -> str:
    """The name of a member's heartbeat."""
    return f"{group}-member-{member}"


def shard_name(group: str, shard: int) -> str:
    """The name of a shard's Lease."""
    return f"{group}-shard-{shard}"


def new_lease(group: str, namespace: str, name: str, holder: str = "", seconds: float = 1.0) -> Object:
    """A Lease to create."""
    now = micro_time()
    spec: Object = {"leaseDurationSeconds": max(ceil(seconds), 1), "acquireTime": now, "renewTime": now}
    return {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.kind,
        "metadata": {"name": name, "namespace": namespace, "labels": {GROUP_LABEL: group}},
        "spec": spec | ({"holderIdentity": holder} if holder else {}),
    }


def with_holder(lease: Object, holder: str) -> Object:
    """The Lease with another holder; empty for none. It keeps its version, so only one can write it."""
    spec = {key: value for key, value in lease["spec"].items() if key != "holderIdentity"}
    spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
    spec["acquireTime"] = spec["renewTime"] = micro_time()
    return {**lease, "spec": spec | ({"holderIdentity": holder} if holder else {})}


def holder_of(lease: Object) -> str:
    """The holder of a Lease; empty for none."""
    return str(lease["spec"].get("holderIdentity") or "")


def duration_of(lease: Object) -> float:
    """For how long a Lease is good, in seconds."""
    return float(lease["spec"].get("leaseDurationSeconds") or 0)


def micro_time() -> str:
    """The time of day, for information: no decision depends on it."""
    return current_timestamp("microseconds")
