"""Making responses."""

from __future__ import annotations

import datetime
from typing import Any

from google.protobuf import duration_pb2, struct_pb2

from . import resource
from .proto.v1 import run_function_pb2

fnv1: Any = run_function_pb2

DEFAULT_TTL = datetime.timedelta(minutes=1)
"""How long a response stays good, unless it says otherwise."""

_STATUSES = {
    "True": fnv1.STATUS_CONDITION_TRUE,
    "False": fnv1.STATUS_CONDITION_FALSE,
    "Unknown": fnv1.STATUS_CONDITION_UNKNOWN,
}


def to(req: Any, ttl: datetime.timedelta = DEFAULT_TTL) -> Any:
    """A response to a request, with its tag, its desired state and its context."""
    lifetime = duration_pb2.Duration()
    lifetime.FromTimedelta(ttl)
    return fnv1.RunFunctionResponse(
        meta=fnv1.ResponseMeta(tag=req.meta.tag, ttl=lifetime), desired=req.desired, context=req.context
    )


def normal(rsp: Any, message: str) -> None:
    """Add a normal result."""
    rsp.results.add(severity=fnv1.SEVERITY_NORMAL, message=message)


def warning(rsp: Any, message: str) -> None:
    """Add a warning."""
    rsp.results.add(severity=fnv1.SEVERITY_WARNING, message=message)


def fatal(rsp: Any, message: str) -> None:
    """Add a fatal result, which ends the run."""
    rsp.results.add(severity=fnv1.SEVERITY_FATAL, message=message)


def set_conditions(rsp: Any, *conditions: resource.Condition) -> None:
    """Add status conditions for the composite resource; when they changed is for the engine to say."""
    for condition in conditions:
        status = _STATUSES.get(condition.status, fnv1.STATUS_CONDITION_UNKNOWN)
        added = rsp.conditions.add(type=condition.typ, status=status, reason=condition.reason or "")
        if condition.message:
            added.message = condition.message


def set_output(rsp: Any, output: Any) -> None:
    """Set the output of an operation."""
    if isinstance(output, dict):
        rsp.output.CopyFrom(resource.dict_to_struct(output))
    elif isinstance(output, struct_pb2.Struct):
        rsp.output.CopyFrom(output)
    else:
        raise TypeError(f"Unsupported output type: {type(output)}")


def require_resources(
    rsp: Any,
    name: str,
    api_version: str,
    kind: str,
    *,
    match_name: str | None = None,
    match_labels: dict[str, str] | None = None,
    namespace: str | None = None,
) -> None:
    """Ask for resources: the one of a name, those with labels, or all of a kind."""
    if match_name is not None and match_labels is not None:
        raise ValueError("match_name and match_labels are mutually exclusive")
    selector = fnv1.ResourceSelector(api_version=api_version, kind=kind)
    if match_name is not None:
        selector.match_name = match_name
    if match_labels is not None:
        selector.match_labels.labels.update(match_labels)
    if namespace is not None:
        selector.namespace = namespace
    rsp.requirements.resources[name].CopyFrom(selector)


def watch_resource(rsp: Any, api_version: str, kind: str, name: str, *, namespace: str | None = None) -> None:
    """Have the pipeline run again when a resource changes; only Crossply does that."""
    ref = fnv1.ResourceRef(api_version=api_version, kind=kind, name=name)
    if namespace is not None:
        ref.namespace = namespace
    rsp.requirements.watch_resources.append(ref)


def require_schema(rsp: Any, name: str, api_version: str, kind: str) -> None:
    """Ask for the OpenAPI schema of a kind."""
    rsp.requirements.schemas[name].CopyFrom(fnv1.SchemaSelector(api_version=api_version, kind=kind))
