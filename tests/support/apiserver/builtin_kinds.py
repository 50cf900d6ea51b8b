"""Built-in resources by kind, and objects of them as the server would go on with them."""

from __future__ import annotations

import functools
from typing import Any

from crossply.apiserver import builtin
from crossply.apiserver.served_resources import Resource


@functools.cache
def by_kind() -> dict[tuple[str, str], Resource]:
    return {(item.group, item.names.kind): item for item in builtin.resources()}


def resource_of(obj: dict[str, Any]) -> Resource:
    return by_kind()[obj["apiVersion"].rpartition("/")[0], obj["kind"]]


def read(obj: dict[str, Any]) -> dict[str, Any]:
    return builtin.normalised(resource_of(obj), obj["apiVersion"].rpartition("/")[2], obj)


def created(obj: dict[str, Any]) -> dict[str, Any]:
    """The object as it would be stored: read, and prepared for creation."""
    built = read(obj)
    built["metadata"].setdefault("generation", 1)
    builtin.strategy_for(resource_of(obj)).prepare_create(built)
    return built


def creation_errors(obj: dict[str, Any]) -> list[str]:
    return [str(error) for error in builtin.strategy_for(resource_of(obj)).validate_create(created(obj))]


def updated(old: dict[str, Any], **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A stored object, and the same with top level fields replaced, prepared as an update."""
    before, after = created(old), read({**created(old), **changes})
    builtin.strategy_for(resource_of(old)).prepare_update(after, before)
    return before, after


def update_errors(old: dict[str, Any], **changes: Any) -> list[str]:
    before, after = updated(old, **changes)
    return [str(error) for error in builtin.strategy_for(resource_of(old)).validate_update(after, before)]


def new(api_version: str, kind: str, name: str = "a", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def pod_template(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "nginx"}]
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": containers, **spec}}


def deployment(**spec: Any) -> dict[str, Any]:
    base = {"selector": {"matchLabels": {"app": "x"}}, "template": pod_template()}
    return new("apps/v1", "Deployment", spec={**base, **spec})
