"""Records Event objects about other objects."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from crossply.apiserver.controllers.internal_calls import internal_call
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.create import create
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Key
from crossply.values import Object

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recorder:
    """The component and user that report events."""

    component: str
    user: User


async def record_warning(
    context: ServerContext, by: Recorder, about: Object, reason: str, message: str
) -> None:
    """Create a Warning event in the namespace of an object; in `default` for a cluster-scoped one.

    An event that cannot be written is dropped, so that it does not stop the controller.
    """
    metadata = about["metadata"]
    namespace = metadata.get("namespace") or "default"
    name = f"{metadata['name']}.{time.time_ns():x}"
    key: Key = ("events", namespace, name)
    call = internal_call(context, key, "create", by.user)
    if call is None:
        return
    stamp = context.timestamp()
    event: Object = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": _reference(about),
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": by.component},
        "reportingComponent": by.component,
        "reportingInstance": "",
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
    }
    try:
        await create(context, call, normalize(call, event))
    except StatusError as problem:
        _log.debug("no event about %s: %s", metadata["name"], problem)


def _reference(about: Object) -> Object:
    metadata = about["metadata"]
    reference = {
        "kind": about.get("kind"),
        "apiVersion": about.get("apiVersion"),
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata.get("uid"),
    }
    return {key: value for key, value in reference.items() if value}
