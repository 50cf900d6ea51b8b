"""A WatchOperation: an Operation for every change of what it watches."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from crossply.kinds.fields import Fields, KindError
from crossply.kinds.operation import from_template, read_template, with_watched
from crossply.kinds.operation_history import FAILED_LIMIT, SUCCESSFUL_LIMIT
from crossply.values import Object
from crossply.values.api_version import format_kind

LABEL = "ops.crossplane.io/watchoperation"
"""The label of an Operation that names the WatchOperation it was made by."""
FINALIZER = "watchoperation.ops.crossplane.io"
"""What other control planes hold WatchOperations by."""
_ANNOTATION = "ops.crossplane.io/watched-resource-"
_DELETED = "ops.crossplane.io/synthetic-deleted"
_HASHED = 7


class WatchOperationError(KindError):
    """A WatchOperation has a field that cannot be understood."""

    code = "CP-424"


class WatchOperation(NamedTuple):
    """What to watch, what to run, and what becomes of earlier runs."""

    name: str
    uid: str
    api_version: str
    kind: str
    namespace: str
    labels: dict[str, str]
    concurrency: str
    successful_limit: int
    failed_limit: int
    template: Object


def parse_watch_operation(obj: Object) -> WatchOperation:
    """Read a WatchOperation."""
    root = Fields(obj, error=WatchOperationError)
    metadata, spec = root.object("metadata"), root.object("spec")
    watch = spec.object("watch")
    successful, failed = spec.integer("successfulHistoryLimit"), spec.integer("failedHistoryLimit")
    return WatchOperation(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        api_version=watch.text("apiVersion"),
        kind=watch.text("kind"),
        namespace=watch.text("namespace"),
        labels=watch.string_map("matchLabels"),
        concurrency=spec.text("concurrencyPolicy"),
        successful_limit=SUCCESSFUL_LIMIT if successful is None else successful,
        failed_limit=FAILED_LIMIT if failed is None else failed,
        template=read_template(spec.object("operationTemplate")),
    )


def operation_for(model: WatchOperation, watched: Object) -> Object:
    """The Operation for a resource as it is; its name makes it the only one."""
    metadata = _metadata(watched)
    reference = {
        "apiversion": watched.get("apiVersion", ""),
        "kind": watched.get("kind", ""),
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "resourceversion": metadata.get("resourceVersion", ""),
    }
    operation = from_template(
        model.template,
        _name(model, watched),
        {LABEL: model.name},
        ("WatchOperation", model.name, model.uid),
        {f"{_ANNOTATION}{key}": value for key, value in reference.items() if value},
    )
    return with_watched(operation, watched)


def as_deleted(watched: Object, now: str) -> Object:
    """A deleted resource, as Operations get it."""
    metadata = {**_metadata(watched), "deletionTimestamp": now, "resourceVersion": _DELETED}
    return {**watched, "metadata": metadata}


def _name(model: WatchOperation, watched: Object) -> str:
    metadata = _metadata(watched)
    parts = [format_kind(str(watched.get("apiVersion", "")), watched.get("kind", ""))]
    parts += [str(metadata.get(key, "")) for key in ("namespace", "name", "uid", "resourceVersion")]
    if metadata.get("deletionTimestamp"):
        parts.append(metadata["deletionTimestamp"])
    return f"{model.name}-{sha256('/'.join(parts).encode()).hexdigest()[:_HASHED]}"


def _metadata(obj: Object) -> Mapping[str, str]:
    metadata: Mapping[str, str] = obj.get("metadata") or {}
    return metadata
