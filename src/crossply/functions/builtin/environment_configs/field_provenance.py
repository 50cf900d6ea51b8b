"""Tracing: which EnvironmentConfig set which field of the environment.

The data of each layer is copied into a tree that has the layer in place of every value but objects. The trees
are merged as the data are, so that the merged tree has the layer that each value of the environment is from.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.environment_configs.function import (
    CONTEXT_KEY,
    SelectedConfig,
    build_environment,
    build_requirements,
    context_environment,
    fetched_configs,
    read_input,
    select_configs,
)
from crossply.functions.builtin.environment_configs.merge import config_name, data_at, merge
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.builtin.object_field_traces import leaves, union
from crossply.functions.builtin.required_resource_selectors import SelectionError, matcher_type
from crossply.functions.field_provenance import (
    COMPOSITE,
    CONDITION,
    ENVIRONMENT,
    PASSED_ON,
    FieldTrace,
    FieldTraces,
    Path,
    SourceField,
    StepTrace,
)
from crossply.values import Object
from crossply.values.field_path import parse, to_string

Conditions = tuple[SourceField, ...]


def trace(request: Request) -> StepTrace | None:
    """Trace function-environment-configs; None for a request that it refuses, or that sets no environment."""
    try:
        spec = read_input(request).get("spec", {})
        if spec.get("environmentConfigs") is None or not request.required_resources:
            return None
        build_requirements(request, spec["environmentConfigs"])  # refuses what has no label
        selected = list(select_configs(request, spec))
        environment = build_environment(request, spec)
    except (InputError, SelectionError):
        return None
    tree = _merged_tree(request, spec, selected)
    return StepTrace(
        {}, {}, {(CONTEXT_KEY, *leaf): field for leaf, field in _traces(environment, tree).items()}
    )


class _Layer(NamedTuple):
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
        how = PASSED_ON if self.object == ENVIRONMENT else "environment"
        if not self.object or leaf[: len(self.place)] != self.place:
            return FieldTrace(how, self.where, self.conditions)
        field = SourceField(self.object, to_string((*self.root, *leaf[len(self.place) :])))
        return FieldTrace(how, self.where, union((field,), self.conditions))


def _merged_tree(request: Request, spec: Object, selected: list[SelectedConfig]) -> Object:
    """The trees of all layers, merged in the order of `build_environment`."""
    deciding = [_deciding(request, source, index) for index, source in enumerate(spec["environmentConfigs"])]
    everything = union(*deciding)
    default = _tree(spec.get("defaultData", {}), _Layer("spec.defaultData", "", (), (), everything))
    earlier = _tree(context_environment(request), _Layer("", ENVIRONMENT, (), (), everything))
    configs = [_config_tree(config, union(*deciding[config.source :])) for config in selected]
    return merge(default, merge(earlier, reduce(merge, configs, {})))


def _config_tree(selected: SelectedConfig, conditions: Conditions) -> Object:
    where = f"spec.environmentConfigs[{selected.source}]"
    place = tuple(parse(selected.place)) if selected.place else ()
    layer = _Layer(where, _object_name(selected.config), place, ("data",), conditions)
    return _tree(data_at(selected.place, selected.config), layer)


def _object_name(config: Object) -> str:
    return f"EnvironmentConfig/{config_name(config)}"


def _deciding(request: Request, source: Object, index: int) -> Conditions:
    """What decides which configs a source selects, and in which order they are merged."""
    selector = source.get("selector")
    if source.get("type") != "Selector" or selector is None:
        return ()
    objects = {"FromCompositeFieldPath": COMPOSITE, "FromEnvironmentFieldPath": ENVIRONMENT}
    labels = [
        SourceField(objects[matcher_type(matcher)], matcher["valueFromFieldPath"], CONDITION)
        for matcher in selector.get("matchLabels", ())
        if matcher_type(matcher) in objects
    ]
    path, configs = selector.get("sortByFieldPath"), fetched_configs(request, index)
    compared = configs if path and len(configs) > 1 else []
    return (*labels, *(SourceField(_object_name(config), path, CONDITION) for config in compared))


def _tree(data: Object, layer: _Layer) -> Object:
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


def _traces(environment: Object, tree: Object) -> FieldTraces:
    """The traces of all fields but those that the function adds itself, or that earlier steps set anyway."""
    traces = {}
    for leaf, _ in leaves(environment):
        layer = _layer_of(tree, leaf)
        if layer is not None and (layer.object != ENVIRONMENT or layer.conditions):
            traces[leaf] = layer.trace(leaf)
    return traces


def _layer_of(tree: Any, leaf: Path) -> _Layer | None:
    for segment in leaf:
        if not isinstance(tree, dict):
            break
        tree = tree.get(segment)
    return tree if isinstance(tree, _Layer) else None
