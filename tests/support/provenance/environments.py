"""Random pipelines that read an environment: EnvironmentConfigs, patches and a template."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Requirements, Resource, State
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.environment_configs.function import run as run_environment_configs
from crossply.functions.builtin.go_templating.function import run as run_template
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.builtin.patch_and_transform.resources_mode import run_native
from crossply.functions.field_provenance import ENVIRONMENT_KEY, Path
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES, NATIVE_FUNCTION
from crossply.provenance.call_recorder import StepCall
from tests.support.provenance import patches, templates

_WHOLE: dict[str, Any] = {key: templates.XR[key] for key in ("metadata", "spec")}
_LABELS = {
    "base": {},
    "first": {"stage": "alpha", "any": "yes"},
    "other": {"stage": "alphachanged", "any": "yes"},
    "last": {"all": "yes"},
}
"""The labels of the configs; a change of the XR's `spec.a` selects another one."""
_BY_STAGE = {"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "spec.a"}
_BY_TEAM = {
    "type": "FromCompositeFieldPath",
    "key": "stage",
    "valueFromFieldPath": "spec.missing",
    "fromFieldPathPolicy": "Optional",
}
PLACES: tuple[Path, ...] = ((), ("spec", "nested"), ("spec", "deep", "er"))
"""Where configs have their data in the environment."""
_SOURCES = (
    {"type": "Selector", "selector": {"matchLabels": [_BY_STAGE]}},
    {"type": "Selector", "selector": {"matchLabels": [_BY_TEAM], "mode": "Multiple"}},
    {
        "type": "Selector",
        "selector": {
            "matchLabels": [{"type": "Value", "key": "all", "value": "yes"}],
            "mode": "Multiple",
            "sortByFieldPath": "data.spec.n",
        },
    },
    {"type": "Reference", "ref": {"name": "first"}},
    {"type": "Reference", "ref": {"name": "other"}, "toFieldPath": "spec.nested"},
    {"type": "Reference", "ref": {"name": "last"}, "toFieldPath": "spec.deep.er"},
)


@st.composite
def _data(draw: st.DrawFn) -> dict[str, Any]:
    """A part of the data, with other values."""
    keys = draw(st.lists(st.sampled_from(sorted(_WHOLE["spec"])), unique=True, max_size=5))
    return {"spec": {key: _changed(_WHOLE["spec"][key]) for key in keys}}


def _changed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _changed(inner) for key, inner in value.items() if key != "x"}
    if isinstance(value, list):
        return value[1:]
    return f"{value}-" if isinstance(value, str) else value


@st.composite
def configs(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """EnvironmentConfigs by their name; `base` has all data."""
    data = {name: deepcopy(_WHOLE) if name == "base" else draw(_data()) for name in _LABELS}
    data["base"]["kind"] = "Settings"
    return {
        name: {"metadata": {"name": name}, "data": {"rank": name, **content}}
        for name, content in data.items()
    }


@st.composite
def pipelines(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The inputs of the three steps."""
    sources = draw(st.lists(st.sampled_from(_SOURCES), max_size=3))
    base = {"type": "Reference", "ref": {"name": "base"}}
    environment = {"environmentConfigs": [base, *sources], "defaultData": draw(_data())}
    patch = st.one_of(patches.from_composite("FromEnvironmentFieldPath"), patches.from_composite())
    template = templates.random_template(draw(st.integers(0, 1 << 32)))
    read = f'index .context "{ENVIRONMENT_KEY}"'
    return [
        {"apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1", "kind": "Input", "spec": environment},
        {
            "apiVersion": "pt.fn.crossplane.io/v1beta1",
            "kind": "Resources",
            "resources": [
                {"name": "patched", "base": patches.BASE, "patches": draw(st.lists(patch, max_size=6))}
            ],
        },
        {
            "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
            "kind": "GoTemplate",
            "source": "Inline",
            "inline": {"template": template.replace("getCompositeResource .", read)},
        },
    ]


def run_pipeline(
    inputs: list[dict[str, Any]], xr: dict[str, Any], configs: dict[str, dict[str, Any]]
) -> list[StepCall] | None:
    """The calls of the steps; None if one is fatal."""
    calls = []
    required: dict[str, tuple[Resource, ...]] = {}
    composite, desired, context = State(Resource(xr)), State(), None
    first = run_environment_configs(Request(composite, desired, input=inputs[0]))
    if first.requirements is not None:
        required = _fetched(first.requirements, configs)
    for run, step_input in zip((run_environment_configs, run_patches, run_template), inputs, strict=True):
        request = Request(composite, desired, input=step_input, context=context, required_resources=required)
        response = run(request)
        if is_fatal(response) or response.desired is None:
            return None
        calls.append(StepCall(run.__module__, "function", request, response))
        desired, context, required = response.desired, response.context, {}
    return calls


def _fetched(
    requirements: Requirements, configs: dict[str, dict[str, Any]]
) -> dict[str, tuple[Resource, ...]]:
    """What an API server has for the requirements."""
    return {
        requirement: tuple(
            Resource(config)
            for name, config in configs.items()
            if name == selector.match_name
            or (selector.match_labels and selector.match_labels.items() <= _LABELS[name].items())
        )
        for requirement, selector in requirements.resources.items()
    }


_NATIVE_SOURCES = (
    {"type": "Selector", "selector": {"matchLabels": [_BY_STAGE]}},
    {"type": "Selector", "selector": {"matchLabels": [_BY_TEAM], "mode": "Multiple"}},
    {
        "type": "Selector",
        "selector": {
            "matchLabels": [{"type": "Value", "key": "all", "value": "yes"}],
            "mode": "Multiple",
            "sortByFieldPath": "data.spec.n",
        },
    },
    {
        "type": "Selector",
        "selector": {
            "matchLabels": [{"type": "Value", "key": "any", "value": "yes"}],
            "mode": "Multiple",
            "sortByFieldPath": "data.rank",
            "maxMatch": 1,
        },
    },
    {"type": "Reference", "ref": {"name": "first"}},
    {"type": "Reference", "ref": {"name": "other"}},
    {"type": "Reference", "ref": {"name": "last"}},
)
_TO_ENVIRONMENT = (
    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.a", "toFieldPath": "spec.nested.x"},
    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.obj", "toFieldPath": "spec.deep"},
    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.obj.x", "toFieldPath": "spec.a"},
    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "spec.b", "toFieldPath": "spec.missing"},
)
_NATIVE_PATCHES = (
    {"type": "FromEnvironmentFieldPath", "fromFieldPath": "kind", "toFieldPath": "spec.b"},
    {"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.id"},
    {
        "type": "FromEnvironmentFieldPath",
        "fromFieldPath": "spec.tags",
        "toFieldPath": "spec.text",
        "transforms": [{"type": "string", "string": {"type": "Convert", "convert": "ToJson"}}],
    },
    {
        "type": "CombineFromEnvironment",
        "combine": {
            "strategy": "string",
            "variables": [{"fromFieldPath": "spec.a"}, {"fromFieldPath": "spec.nested.x"}],
            "string": {"fmt": "%s+%s"},
        },
        "toFieldPath": "spec.combined",
    },
)


_ENVIRONMENT_PATCHES = (
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.b", "toFieldPath": "spec.a"},
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.missing", "toFieldPath": "spec.b"},
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.nested", "toFieldPath": "spec.deep"},
    {"type": "ToCompositeFieldPath", "fromFieldPath": "spec.tags", "toFieldPath": "status.tags"},
)


@st.composite
def native_inputs(draw: st.DrawFn) -> dict[str, Any]:
    """The input of a Composition in `mode: Resources` with an environment."""
    base = [{"type": "Reference", "ref": {"name": "base"}}] if draw(st.booleans()) else []
    sources = draw(st.lists(st.sampled_from(_NATIVE_SOURCES), max_size=3))
    policy = {"resolve": draw(st.sampled_from(("Always", "IfNotPresent"))), "resolution": "Optional"}
    patch = st.one_of(
        patches.from_composite("FromEnvironmentFieldPath", merges=False),
        patches.from_composite("FromEnvironmentFieldPath", merges=False),
        patches.from_composite(merges=False),
        st.sampled_from(_NATIVE_PATCHES),
        st.sampled_from(_TO_ENVIRONMENT),
    )
    return {
        "apiVersion": "crossply.dev/v1alpha1",
        "kind": "NativeResources",
        "environment": {
            "environmentConfigs": [*base, *sources],
            "defaultData": draw(_data()),
            "policy": policy,
        },
        "resources": [
            {"name": name, "base": patches.BASE, "patches": draw(st.lists(patch, max_size=6))}
            for name in ("one", "two")
        ],
    }


def recorded_selections() -> st.SearchStrategy[dict[str, Any]]:
    """XRs that have selected configs before, or have not."""
    recorded: tuple[dict[str, Any], ...] = (
        {},
        {"metadata": {**templates.XR["metadata"], "annotations": {ENVIRONMENT_REFERENCES: "base,last"}}},
        {"spec": {**templates.XR["spec"], "environmentConfigRefs": [{"name": "first"}, {"name": "base"}]}},
    )
    return st.sampled_from(recorded).map(lambda fields: {**templates.XR, **fields})


def run_native_step(
    function_input: dict[str, Any], xr: dict[str, Any], configs: dict[str, dict[str, Any]]
) -> list[StepCall] | None:
    """The call of the only step; None if it is fatal."""
    request = patches.request_for(function_input, xr)
    requirements = run_native(request).requirements
    if requirements is None:
        return None
    request = patches.request_for(function_input, xr, _fetched(requirements, configs))
    response = run_native(request)
    return None if is_fatal(response) else [StepCall("resources", NATIVE_FUNCTION, request, response)]
