"""Event objects by which controllers tell users what they found."""

from __future__ import annotations

import time

from crossply.apiserver.controllers.internal_calls import internal_call
from crossply.apiserver.lifecycle import create
from crossply.apiserver.requests import User
from crossply.apiserver.shape import shape
from crossply.apiserver.storage import Key
from crossply.apiserver.world import World
from crossply.values import Object


async def record_warning(world: World, user: User, about: Object, reason: str, message: str) -> None:
    """Write a Warning about an object into its namespace; one about a cluster scoped object into default."""
    metadata = about["metadata"]
    namespace = metadata.get("namespace") or "default"
    name = f"{metadata['name']}.{time.time_ns():x}"
    key: Key = ("events", namespace, name)
    call = internal_call(world, key, "create", user)
    if call is None:
        return
    component = user.name.rpartition(":")[2]
    stamp = world.timestamp()
    event: Object = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": _reference(about),
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": "",
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
    }
    await create(world, call, shape(call, event))


def _reference(about: Object) -> Object:
    metadata = about["metadata"]
    told = {
        "kind": about.get("kind"),
        "apiVersion": about.get("apiVersion"),
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata.get("uid"),
    }
    return {key: value for key, value in told.items() if value}
