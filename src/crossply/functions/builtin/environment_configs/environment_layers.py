"""Which EnvironmentConfig each field of a merged environment is from.

The data of each layer is copied into a tree that has the layer in place of every value but objects. The trees
are merged as the data are, so that the merged tree has the layer that each value of the environment is from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.builtin.object_field_traces import leaves, union
from crossply.functions.field_provenance import (
    ENVIRONMENT,
    ENVIRONMENT_DATA,
    PASSED_ON,
    FieldTrace,
    FieldTraces,
    Path,
    SourceField,
)
from crossply.values import Object
from crossply.values.field_path import to_string

Conditions = tuple[SourceField, ...]


class Layer(NamedTuple):
    """Data that are merged into the environment."""

    where: str
    object: str
    """What has the data; "" for those of the step itself."""
    place: Path
    """Where the data are in the environment."""
    root: Path
    """Where they are in their object."""
    conditions: Conditions
    """What decides that no later layer replaces them, and that they are there."""

    def trace(self, leaf: Path) -> FieldTrace:
        how = PASSED_ON if self.object == ENVIRONMENT else ENVIRONMENT_DATA
        if not self.object or leaf[: len(self.place)] != self.place:
            return FieldTrace(how, self.where, self.conditions)
        field = SourceField(self.object, to_string((*self.root, *leaf[len(self.place) :])))
        return FieldTrace(how, self.where, union((field,), self.conditions))


def layer_tree(data: Object, layer: Layer) -> Object:
    """The data with the layer in place of every value but objects."""
    # No recursion: users control how deep the data nests.
    tree: Object = {}
    pending = [(tree, data)]
    while pending:
        target, source = pending.pop()
        for key, value in source.items():
            if isinstance(value, dict):
                target[key] = below = dict[str, Any]()
                pending.append((below, value))
            else:
                target[key] = layer
    return tree


def layer_traces(environment: Object, tree: Object) -> FieldTraces:
    """The traces of all fields but those that no layer has, or that earlier steps set anyway."""
    traces = {}
    for leaf, _ in leaves(environment):
        layer = _layer_of(tree, leaf)
        if layer is not None and (layer.object != ENVIRONMENT or layer.conditions):
            traces[leaf] = layer.trace(leaf)
    return traces


def _layer_of(tree: Any, leaf: Path) -> Layer | None:
    for segment in leaf:
        if not isinstance(tree, dict):
            break
        tree = tree.get(segment)
    return tree if isinstance(tree, Layer) else None
