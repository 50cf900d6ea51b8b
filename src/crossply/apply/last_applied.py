"""Migration from client-side `kubectl apply` to server-side apply.

Client-side apply records what was applied in an annotation. Fields in the annotation that are unchanged since
belong to kubectl: they are no conflicts. The annotation is kept up to date, so that users can go back.
"""

from __future__ import annotations

from typing import Any

from crossply.apply.compare import compare
from crossply.apply.configuration_field_set import owned_fields
from crossply.apply.conflicts import Conflict
from crossply.apply.errors import ApplyError
from crossply.apply.field_sets import FieldSet, contains, difference
from crossply.apply.managed_fields import without_entries
from crossply.apply.validate import check
from crossply.apply.write_endpoint import Scope
from crossply.values import Object, gojson

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_ANNOTATED = 256 * 1024


def real_conflicts(conflicts: list[Conflict], live: Object, scope: Scope) -> list[Conflict]:
    """Return the conflicts on fields that the annotation does not list."""
    own = _own_fields(live, scope)
    return [conflict for conflict in conflicts if not contains(own, conflict.path)]


def _own_fields(live: Object, scope: Scope) -> FieldSet:
    text = _annotations(live).get(ANNOTATION)
    try:
        last = gojson.loads(text) if text else None
        if last.__class__ is not dict or last.get("apiVersion") != scope.api_version:
            return {}
        bare = without_entries(live)
        check(bare, scope.type)
        check(last, scope.type)
    except (gojson.JsonError, ApplyError):
        return {}
    fields = owned_fields(last, scope.type)
    for changed in compare(last, bare, scope.type):
        fields = difference(fields, changed)
    return fields


def annotated(object_: Object, config: Object) -> Object:
    """Return an object with the annotation updated, if it has the annotation."""
    annotations = _annotations(object_)
    if not annotations.get(ANNOTATION):
        return object_
    rest = {name: value for name, value in annotations.items() if name != ANNOTATION}
    annotations = {**rest, ANNOTATION: _text(config)}
    size = sum([len(name.encode()) + len(str(value).encode()) for name, value in annotations.items()])
    written = annotations if size <= _MOST_ANNOTATED else rest
    return {**object_, "metadata": {**object_["metadata"], "annotations": written}}


def _text(config: Object) -> str:
    metadata = config.get("metadata")
    if metadata.__class__ is dict and metadata.get("annotations").__class__ is dict:
        rest = {name: value for name, value in metadata["annotations"].items() if name != ANNOTATION}
        config = {**config, "metadata": {**metadata, "annotations": rest}}
    return gojson.dumps(config) + "\n"


def _annotations(object_: Object) -> dict[str, Any]:
    metadata = object_.get("metadata")
    annotations = metadata.get("annotations") if metadata.__class__ is dict else None
    return annotations if annotations.__class__ is dict else {}
