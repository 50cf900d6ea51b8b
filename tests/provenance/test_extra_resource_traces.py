"""`explain` of resources in the context: the resource that a value is from, and what selected it."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.extra_resources import CONTEXT_KEY
from crossply.functions.builtin.extra_resources import run as run_extra_resources
from crossply.functions.builtin.go_templating.function import run as run_template
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.field_provenance import CONDITION, ENVIRONMENT_KEY, KEYS, SourceField
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import FieldSource
from crossply.provenance.pipeline import explain_pipeline
from crossply.provenance.source_wording import sources_text
from crossply.values import Object

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web"},
    "spec": {"stage": "prod"},
}
KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
EU = {**KIND, "metadata": {"name": "eu", "namespace": "site"}, "data": {"region": "eu-1", "zone": "a"}}
US = {**KIND, "metadata": {"name": "us", "namespace": "site"}, "data": {"region": "us-1", "rank": "2"}}
STAGE = SourceField("composite", "spec.stage", CONDITION)
REFERENCE = {"type": "Reference", "ref": {"name": "eu"}, "namespace": "site", "into": "sites", **KIND}
READ = f'index .context "{CONTEXT_KEY}" "sites"'
HEAD = """
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    {{ setResourceNameAnnotation "cm" }}
data:
"""


def selector(**rest: Any) -> Object:
    label = {"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "spec.stage"}
    return {"type": "Selector", "selector": {"matchLabels": [label], **rest}, "into": "sites", **KIND}


def template(text: str) -> Object:
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": text},
    }


def explained(source: Object, objects: list[Object], *steps: tuple[Any, Object]) -> FieldSource:
    """The source of `data.value` after function-extra-resources and more steps."""
    step_input = {
        "apiVersion": "extra-resources.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"extraResources": [source]},
    }
    required = {"sites": tuple(map(Resource, objects))}
    return explained_steps(required, (run_extra_resources, step_input), *steps)


def explained_steps(required: dict[str, tuple[Resource, ...]], *steps: tuple[Any, Object]) -> FieldSource:
    calls = []
    desired, context = State(), {}
    for run, step_input in steps:
        request = Request(
            State(Resource(XR)), desired, input=step_input, context=context, required_resources=required
        )
        response = run(request)
        assert not response.results, response.results
        assert response.desired is not None
        calls.append(StepCall(run.__module__, "function", request, response))
        desired, context, required = response.desired, response.context or {}, {}
    source = explain_pipeline(calls).of("cm", "data.value")
    assert source is not None
    return source


def named(source: FieldSource) -> set[SourceField]:
    """The sources but those in the context, which are the way of the value."""
    return {field for field in source.sources if field.object not in ("context", "environment")}


def site(path: str, use: str = "value", name: str = "eu") -> SourceField:
    return SourceField(f"ConfigMap/site/{name}", path, use)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"  value: {{{{ ({READ} 0).data.region }}}}\n", {site("data.region")}),
        (f"  value: {{{{ ({READ} 0).data.none }}}}\n", {site("data.none")}),
        (f"  value: {{{{ toJson ({READ} 0).data | quote }}}}\n", {site("data")}),
        (f"  value: {{{{ toJson ({READ}) | quote }}}}\n", {site("")}),
        (
            f"  {{{{- range {READ} }}}}\n  value: {{{{ .data.zone }}}}\n  {{{{- end }}}}\n",
            {site("data.zone")},
        ),
        (
            f"  {{{{- range $key, $_ := ({READ} 0).data }}}}\n  value: 1\n  {{{{- end }}}}\n",
            {site("data", KEYS)},
        ),
        (
            f'  {{{{- if eq ({READ} 0).data.zone "a" }}}}\n  value: 1\n  {{{{- end }}}}\n',
            {site("data.zone", CONDITION)},
        ),
        ("  value: fixed\n", set()),
    ],
)
def test_a_template_names_the_resource_and_the_path_in_it(body: str, expected: set[SourceField]):
    assert named(explained(REFERENCE, [EU], (run_template, template(HEAD + body)))) == expected


def test_the_place_in_the_context_is_named_first():
    body = f"  value: {{{{ ({READ} 0).data.region }}}}\n"
    source = explained(REFERENCE, [EU], (run_template, template(HEAD + body)))
    place = SourceField("context", f"[{CONTEXT_KEY}].sites[0].data.region")
    assert source.sources == (place, site("data.region"))


def test_the_text_of_all_sources_ends_with_the_place_in_the_context():
    body = f"  value: {{{{ ({READ} 0).data.region }}}}\n"
    source = explained(selector(), [EU], (run_template, template(HEAD + body)))
    assert sources_text(source) == (
        f"ConfigMap/site/eu: data.region, if spec.stage, context: [{CONTEXT_KEY}].sites[0].data.region"
    )


def test_a_resource_without_a_namespace_is_named_by_its_kind_and_name():
    cluster = {**KIND, "kind": "Cluster", "metadata": {"name": "eu"}, "data": {"region": "eu-1"}}
    body = f"  value: {{{{ ({READ} 0).data.region }}}}\n"
    source = explained(REFERENCE, [cluster], (run_template, template(HEAD + body)))
    assert named(source) == {SourceField("Cluster/eu", "data.region")}


def test_the_field_of_the_label_decides_which_resource_there_is():
    step = template(HEAD + f"  value: {{{{ ({READ} 0).data.region }}}}\n")
    assert named(explained(selector(), [EU], (run_template, step))) == {site("data.region"), STAGE}
    counted = template(HEAD + f"  value: {{{{ len ({READ}) | quote }}}}\n")
    assert named(explained(selector(), [EU], (run_template, counted))) == {STAGE}


def test_the_field_that_resources_are_sorted_by_decides_which_is_first():
    step = template(HEAD + f"  value: {{{{ ({READ} 0).data.region }}}}\n")
    assert named(explained(selector(sortByFieldPath="data.rank"), [US, EU], (run_template, step))) == {
        site("data.region"),
        site("data.rank", CONDITION),
        site("data.rank", CONDITION, "us"),
        STAGE,
    }
    assert named(explained(selector(), [US, EU], (run_template, step))) == {site("data.region"), STAGE}


def test_a_patch_names_the_resource_that_a_template_put_into_the_environment():
    environment = f"""
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: Context
data:
  "{ENVIRONMENT_KEY}":
    region: {{{{ ({READ} 0).data.region }}}}
"""
    patch = {"type": "FromEnvironmentFieldPath", "fromFieldPath": "region", "toFieldPath": "data.value"}
    patches = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "cm", "base": KIND, "patches": [patch]}],
    }
    source = explained(REFERENCE, [EU], (run_template, template(environment)), (run_patches, patches))
    assert source.sources[0] == SourceField("environment", "region")
    assert named(source) == {site("data.region")}


def test_a_template_names_the_resource_that_an_earlier_template_required():
    require = """
apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
kind: ExtraResources
requirements:
  sites:
    apiVersion: v1
    kind: ConfigMap
    matchLabels: {stage: {{ .observed.composite.resource.spec.stage }}}
"""
    body = '  value: {{ (index (getExtraResourcesFromContext . "sites") 0).resource.data.region }}\n'
    source = explained_steps(
        {"sites": (Resource(EU),)}, (run_template, template(require)), (run_template, template(HEAD + body))
    )
    assert named(source) == {site("data.region"), STAGE}
