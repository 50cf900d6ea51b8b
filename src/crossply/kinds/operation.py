"""An Operation: a pipeline of functions that runs to completion once and applies its desired resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.kinds.composition import Step, parse_steps
from crossply.kinds.fields import Fields, KindError
from crossply.values import Object
from crossply.values.owner_references import as_controller, reference_to

API_VERSION = "ops.crossplane.io/v1alpha1"
WATCHED = "ops.crossplane.io/watched-resource"
"""The requirement that holds the resource which a WatchOperation is about."""

RETRY_LIMIT = 5
"""The default retry limit of an Operation."""


class OperationError(KindError):
    """An Operation has a field that cannot be understood."""

    code = "CP-422"


class Operation(NamedTuple):
    """What to run, and how often to try."""

    steps: tuple[Step, ...]
    retry_limit: int = RETRY_LIMIT


def parse_operation(obj: Object) -> Operation:
    """Read an Operation."""
    spec = Fields(obj, error=OperationError).object("spec")
    limit = spec.integer("retryLimit")
    return Operation(parse_steps(spec), RETRY_LIMIT if limit is None else limit)


def read_template(template: Fields) -> Object:
    """The metadata and spec of Operations to make, known to have the shape that is built on."""
    metadata = template.object("metadata")
    for maps in ("labels", "annotations"):
        metadata.string_map(maps)
    metadata.items("ownerReferences")
    return {"metadata": metadata.as_dict(), "spec": template.object("spec").as_dict()}


def from_template(
    template: Object,
    name: str,
    labels: Mapping[str, str],
    owner: tuple[str, str, str],
    annotations: Mapping[str, str] = {},
) -> Object:
    """An Operation of a template; `owner` is the kind, the name and the UID of what makes it."""
    metadata: Object = {**template["metadata"], "name": name}
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    if annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    kind, owner_name, uid = owner
    reference = as_controller(reference_to(API_VERSION, kind, owner_name, uid))
    metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or ()), reference]
    return {"apiVersion": API_VERSION, "kind": "Operation", "metadata": metadata, "spec": template["spec"]}


def with_watched(operation: Object, watched: Object) -> Object:
    """The Operation whose steps are all given the resource that it is about, from their first call on."""
    metadata = watched.get("metadata") or {}
    requirement = {
        "requirementName": WATCHED,
        "apiVersion": watched.get("apiVersion", ""),
        "kind": watched.get("kind", ""),
        "name": metadata.get("name", ""),
    }
    if metadata.get("namespace"):
        requirement["namespace"] = metadata["namespace"]
    spec = operation.get("spec") or {}
    steps = [_requiring(step, requirement) for step in spec.get("pipeline") or ()]
    return {**operation, "spec": {**spec, "pipeline": steps}}


def _requiring(step: Object, requirement: Object) -> Object:
    requirements = step.get("requirements") or {}
    resources = [*(requirements.get("requiredResources") or ()), requirement]
    return {**step, "requirements": {**requirements, "requiredResources": resources}}
