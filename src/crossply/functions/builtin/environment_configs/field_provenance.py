"""Tracing: which EnvironmentConfig set which field of the environment."""

from __future__ import annotations

from functools import reduce

from crossply.compose.function_messages import Request
from crossply.functions.builtin.environment_configs.environment_layers import (
    Conditions,
    Layer,
    layer_traces,
    layer_tree,
)
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
from crossply.functions.builtin.object_field_traces import union
from crossply.functions.builtin.required_resource_selectors import SelectionError, matcher_type
from crossply.functions.field_provenance import COMPOSITE, CONDITION, ENVIRONMENT, SourceField, StepTrace
from crossply.values import Object
from crossply.values.field_path import parse


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
        {}, {}, {(CONTEXT_KEY, *leaf): field for leaf, field in layer_traces(environment, tree).items()}
    )


def _merged_tree(request: Request, spec: Object, selected: list[SelectedConfig]) -> Object:
    """The trees of all layers, merged in the order of `build_environment`."""
    deciding = [_deciding(request, source, index) for index, source in enumerate(spec["environmentConfigs"])]
    everything = union(*deciding)
    default = layer_tree(spec.get("defaultData", {}), Layer("spec.defaultData", "", (), (), everything))
    earlier = layer_tree(context_environment(request), Layer("", ENVIRONMENT, (), (), everything))
    configs = [_config_tree(config, union(*deciding[config.source :])) for config in selected]
    return merge(default, merge(earlier, reduce(merge, configs, {})))


def _config_tree(selected: SelectedConfig, conditions: Conditions) -> Object:
    where = f"spec.environmentConfigs[{selected.source}]"
    place = tuple(parse(selected.place)) if selected.place else ()
    layer = Layer(where, _object_name(selected.config), place, ("data",), conditions)
    return layer_tree(data_at(selected.place, selected.config), layer)


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
