"""Random pipelines that read resources which an earlier step put into the context."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.extra_resources import CONTEXT_KEY
from crossply.functions.builtin.extra_resources import run as run_extra_resources
from crossply.functions.builtin.go_templating.function import run as run_template
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.field_provenance import ENVIRONMENT_KEY
from crossply.provenance.call_recorder import StepCall
from tests.support.provenance import patches, templates

Objects = dict[str, dict[str, Any]]
Run = Callable[[Request], Response]

_LABELS: dict[str, dict[str, str]] = {
    "base": {},
    "first": {"stage": "alpha", "all": "yes"},
    "other": {"stage": "alphachanged", "all": "yes"},
}
"""The labels of the resources; a change of the XR's `spec.a` selects another one."""
_KIND = {"apiVersion": "example.org/v1", "kind": "Other"}
_SOURCES: tuple[dict[str, Any], ...] = (
    {"type": "Reference", "ref": {"name": "base"}, "into": "one", **_KIND},
    {
        "type": "Selector",
        "selector": {
            "matchLabels": [
                {"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "spec.a"}
            ],
            "sortByFieldPath": "spec.n",
        },
        "into": "picked",
        **_KIND,
    },
    {
        "type": "Selector",
        "selector": {
            "matchLabels": [{"type": "Value", "key": "all", "value": "yes"}],
            "sortByFieldPath": "spec.n",
            "maxMatch": 1,
        },
        "into": "last",
        **_KIND,
    },
)
_READS = tuple(f'index .context "{CONTEXT_KEY}" "{source["into"]}" 0' for source in _SOURCES)
_REQUIRE = """
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: ExtraResources
requirements:
  one: {apiVersion: example.org/v1, kind: Other, matchName: base}
  picked:
    apiVersion: example.org/v1
    kind: Other
    matchLabels: {stage: {{ .observed.composite.resource.spec.a | default "none" | quote }}}
"""
_READS_OF_TEMPLATE = (
    '(index (getExtraResourcesFromContext . "one") 0).resource',
    f'(index .context "{CONTEXT_KEY}" "picked" "items" 0).resource',
)
_ENVIRONMENT = """
{{- $r := READ }}
---
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: Context
data:
  "KEY":
    kind: Environment
    spec:
      WHOLE
      a: {{ $r.spec.a | toJson }}
      b: {{ $r.spec.nested.x | toJson }}
      nested: {{ $r.spec.nested | toJson }}
      {{- range $key, $_ := $r.spec.tags }}
      t{{ $key }}: 1
      {{- end }}
"""


@st.composite
def resources(draw: st.DrawFn) -> Objects:
    """Resources by their name, in the form of the XR."""
    made = {}
    for name in _LABELS:
        spec = deepcopy(templates.XR["spec"])
        for key in draw(st.lists(st.sampled_from(sorted(spec)), unique=True, max_size=4)):
            if name != "base":
                del spec[key]
        spec["n"] = float(draw(st.integers(1, 4)))
        made[name] = {**_KIND, "metadata": {"name": name, "labels": {"team": name}}, "spec": spec}
    return made


@st.composite
def pipelines(draw: st.DrawFn) -> list[tuple[Run, dict[str, Any]]]:
    """The functions of the steps, and their inputs."""
    by_template = draw(st.booleans())
    read = draw(st.sampled_from(_READS_OF_TEMPLATE if by_template else _READS))
    environment = _ENVIRONMENT.replace("READ", read).replace("KEY", ENVIRONMENT_KEY)
    environment = environment.replace("WHOLE", draw(st.sampled_from(("", "deep: {{ toJson $r.spec }}"))))
    patch = st.one_of(patches.from_composite("FromEnvironmentFieldPath"), patches.from_composite())
    template = templates.random_template(draw(st.integers(0, 1 << 32)))
    step: dict[str, Any] = {"apiVersion": "extra-resources.fn.crossplane.io/v1beta1", "kind": "Input"}
    step["spec"] = {"extraResources": list(_SOURCES)}
    resource = {"name": "patched", "base": patches.BASE, "patches": draw(st.lists(patch, max_size=6))}
    return [
        (run_template, _template(_REQUIRE)) if by_template else (run_extra_resources, step),
        (run_template, _template(environment)),
        (
            run_patches,
            {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [resource]},
        ),
        (run_template, _template(template.replace("getCompositeResource .", read))),
    ]


def _template(text: str) -> dict[str, Any]:
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": text},
    }


def run_pipeline(
    steps: list[tuple[Run, dict[str, Any]]], xr: dict[str, Any], resources: Objects
) -> list[StepCall] | None:
    """The calls of the steps; None if one is fatal."""
    calls = []
    desired, context = State(), dict[str, Any]()
    for run, step_input in steps:
        request = Request(State(Resource(xr)), desired, input=step_input, context=context)
        response = run(request)
        if response.requirements is not None:
            fetched = {
                requirement: tuple(
                    Resource(obj)
                    for name, obj in resources.items()
                    if name == selector.match_name
                    or (selector.match_labels and selector.match_labels.items() <= _LABELS[name].items())
                )
                for requirement, selector in response.requirements.resources.items()
            }
            request = Request(
                State(Resource(xr)), desired, input=step_input, context=context, required_resources=fetched
            )
            response = run(request)
        if is_fatal(response) or response.desired is None:
            return None
        calls.append(StepCall(run.__module__, "function", request, response))
        desired, context = response.desired, response.context or {}
    return calls
