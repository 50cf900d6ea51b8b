"""The objects that a program gives: those in `items`, its documents, or all its variables as one object."""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.quick_json import loads

_LISTS = ("List", "ResourceList")
_OWN_KIND = ("krm.kcl.dev/v1alpha1", "KCLRun")
_PIPELINE_ANNOTATIONS = frozenset(
    (
        "config.kubernetes.io/index",
        "internal.config.kubernetes.io/index",
        "internal.config.kubernetes.io/seqindent",
    )
)
_MAX_SHOWN = 500


class OutputError(Exception):
    """The output of a program is no list of objects. It becomes a fatal result."""


def read_objects(output: bytes) -> list[Object]:
    """The objects of a program's output, which has a JSON document on each line."""
    try:
        documents = [loads(line) for line in output.splitlines()]
    except ValueError as error:
        raise OutputError(f"the program gives no JSON: {error}") from None
    return [_cleaned(_checked(item)) for item in _items(_nodes(documents)) if item is not None]


def _nodes(documents: list[Any]) -> list[Any]:
    """The documents; a lone list of Kubernetes objects is unwrapped."""
    nodes = [document for document in documents if document is not None]
    if len(documents) == 1 and nodes:
        only = _checked(nodes[0])
        if only.get("kind") in _LISTS and ("items" in only or "functionConfig" in only):
            return only["items"] if isinstance(only.get("items"), list) else []
    return nodes


def _items(nodes: list[Any]) -> list[Any]:
    if len(nodes) > 1:
        return [node for node in nodes if not _is_own_kind(node)]
    if not nodes or nodes[0] is None:
        return []
    only = _checked(nodes[0])
    return _sequence(only["items"]) if "items" in only else [only]


def _is_own_kind(node: Any) -> bool:
    return isinstance(node, dict) and (node.get("apiVersion"), node.get("kind")) == _OWN_KIND


def _cleaned(obj: Object) -> Object:
    """The object without annotations of KRM pipelines, and without empty annotations and metadata."""
    if "metadata" not in obj:
        return obj
    metadata = obj["metadata"] if obj["metadata"] is None else _checked(obj["metadata"])
    if metadata and "annotations" in metadata:
        annotations = {} if metadata["annotations"] is None else _checked(metadata["annotations"])
        remaining = {key: value for key, value in annotations.items() if key not in _PIPELINE_ANNOTATIONS}
        metadata = {**metadata, "annotations": remaining}
        if not remaining:
            del metadata["annotations"]
    cleaned = {**obj, "metadata": metadata}
    if not metadata:
        del cleaned["metadata"]
    return cleaned


def _checked(node: Any) -> Object:
    if not isinstance(node, dict):
        raise _wrong_kind("MappingNode", node)
    return node


def _sequence(node: Any) -> list[Any]:
    if node is None:
        return []
    if not isinstance(node, list):
        raise _wrong_kind("SequenceNode", node)
    return node


def _wrong_kind(expected: str, node: Any) -> OutputError:
    from crossply.values import yaml

    containers = ((dict, "MappingNode"), (list, "SequenceNode"))
    kind = next((name for container, name in containers if isinstance(node, container)), "ScalarNode")
    return OutputError(
        f"wrong node kind: expected {expected} but got {kind}: node contents:\n{yaml.dump(node)[:_MAX_SHOWN]}"
    )
