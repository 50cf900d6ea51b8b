"""Which EnvironmentConfig each field of the environment of a Composition in `mode: Resources` is from."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import Request
from crossply.compose.object_metadata import annotations_of, name_of
from crossply.functions.builtin.environment_configs.environment_layers import (
    Conditions,
    Layer,
    layer_traces,
    layer_tree,
)
from crossply.functions.builtin.environment_configs.merge import merge
from crossply.functions.builtin.object_field_traces import union
from crossply.functions.builtin.patch_and_transform.resources_mode_environment import (
    NativeEnvironment,
    Selected,
    Source,
)
from crossply.functions.builtin.required_resource_selectors import DEFAULT_SORT_PATH
from crossply.functions.field_provenance import COMPOSITE, CONDITION, ENVIRONMENT, FieldTraces, SourceField
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
from crossply.values import Object
from crossply.values.field_path import to_string

_RECORDED = to_string(("metadata", "annotations", ENVIRONMENT_REFERENCES))
_RECORDED_BY_CROSSPLANE = "spec.environmentConfigRefs"
_SET_BY_ENGINE = (("apiVersion",), ("kind",))


class EnvironmentTraces(NamedTuple):
    """What is known about the fields of an environment before patches change it."""

    fields: FieldTraces
    selection: Conditions
    """What decides which configs there are: the source of what the environment does not have."""


def environment_traces(request: Request, written: Object) -> EnvironmentTraces:
    """The traces of an environment that was fetched and can be selected."""
    environment = NativeEnvironment(request, written)
    recorded = _recorded(environment, request)
    deciding = [_deciding(environment, source, index) for index, source in enumerate(environment.sources)]
    everything = union(*deciding, recorded)
    default = Layer("environment.defaultData", "", (), (), everything)
    provided = Layer("", ENVIRONMENT, (), (), everything)
    tree = merge(layer_tree(environment.default_data, default), layer_tree(environment.provided, provided))
    for selected in environment.select():
        data = selected.config.get("data")
        if isinstance(data, dict):
            conditions = union(*deciding[selected.source :], recorded)
            tree = merge(tree, layer_tree(data, _config_layer(environment, selected, conditions)))
    merged = environment.merge(selected.config for selected in environment.select())
    traces = layer_traces(merged, tree)
    for path in _SET_BY_ENGINE:
        traces.pop(path, None)
    return EnvironmentTraces(traces, everything)


def _config_layer(environment: NativeEnvironment, selected: Selected, conditions: Conditions) -> Layer:
    place = f"environment.environmentConfigs[{selected.source}]"
    where = "" if environment.uses_recorded else place
    return Layer(where, f"EnvironmentConfig/{selected.name}", (), ("data",), conditions)


def _recorded(environment: NativeEnvironment, request: Request) -> Conditions:
    """The fields of the XR with what was selected before, which replaces what the Composition selects."""
    if not environment.reads_recorded:
        return ()
    annotation = SourceField(COMPOSITE, _RECORDED, CONDITION)
    composite = request.observed.composite
    if composite is not None and annotations_of(composite.object).get(ENVIRONMENT_REFERENCES):
        return (annotation,)
    return annotation, SourceField(COMPOSITE, _RECORDED_BY_CROSSPLANE, CONDITION)


def _deciding(environment: NativeEnvironment, source: Source, index: int) -> Conditions:
    """What decides which configs a source selects, and in which order they are merged."""
    if source.selector is None:
        return ()
    labels = [
        SourceField(COMPOSITE, matcher["valueFromFieldPath"], CONDITION)
        for matcher in source.selector["matchLabels"]
        if matcher["type"] == "FromCompositeFieldPath"
    ]
    path, configs = source.selector["sortByFieldPath"], environment.fetched(index)
    compared = configs if path != DEFAULT_SORT_PATH and len(configs) > 1 else []
    sorting = [SourceField(f"EnvironmentConfig/{name_of(config)}", path, CONDITION) for config in compared]
    return (*labels, *sorting)
