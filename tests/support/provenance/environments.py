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
from crossply.functions.field_provenance import ENVIRONMENT_KEY, Path
from crossply.provenance.call_recorder import StepCall
from tests.support.provenance import patches, templates

_WHOLE: dict[str, Any] = {key: templates.XR[key] for key in ("metadata", "spec")}
_LABELS = {
    "base": {},
    "first": {"stage": "alpha"},
    "other": {"stage": "alphachanged"},
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
    return {name: {"metadata": {"name": name}, "data": content} for name, content in data.items()}


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
