"""`explain` of patches: the patch, its place, and the fields that it reads."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.patch_and_transform.function import run
from crossply.functions.builtin.patch_and_transform.resources_mode import run_native
from crossply.functions.field_provenance import CONDITION, ENVIRONMENT_KEY, SourceField
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import Provenance
from crossply.provenance.pipeline import explain_pipeline

XR: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web"},
    "spec": {"region": "eu", "tags": {"team": "red", "tier": "one"}, "words": ["a", "b"], "more": ["c"]},
}
BASE = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"region": "none", "fixed": "yes"}}
OBSERVED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-1"}, "status": {"id": "i-1"}}


def explained(patches: list[Any], *, exists: bool = False, **settings: Any) -> Provenance:
    step_input = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "cm", "base": BASE, "patches": patches}],
        **settings,
    }
    observed = {"cm": Resource(OBSERVED)} if exists else {}
    context = {ENVIRONMENT_KEY: {"zone": "a"}}
    request = Request(State(Resource(XR), observed), State(), input=step_input, context=context)
    return explain_pipeline([StepCall("compose", "function-patch-and-transform", request, run(request))])


def test_a_patched_field_names_its_patch_its_transforms_and_its_source():
    transform = {"type": "map", "map": {"eu": "eu-central-1"}}
    patch = {"fromFieldPath": "spec.region", "toFieldPath": "data.region", "transforms": [transform]}
    source = explained([patch]).of("cm", "data.region")
    assert source is not None
    assert (source.step, source.how) == ("compose", "patch 0 (FromCompositeFieldPath, map)")
    assert source.where == "resources[0].patches[0]"
    assert source.sources == (SourceField("composite", "spec.region"),)


def test_a_copied_object_is_explained_field_by_field():
    provenance = explained([{"fromFieldPath": "spec.tags", "toFieldPath": "data"}])
    assert provenance["cm"]["data.team"].sources == (SourceField("composite", "spec.tags.team"),)
    assert "data.fixed" not in provenance["cm"]


def test_a_patch_that_does_not_apply_is_a_condition_of_the_field_that_it_would_replace():
    source = explained([{"fromFieldPath": "spec.missing", "toFieldPath": "data.region"}]).of(
        "cm", "data.region"
    )
    assert source is not None
    assert source.how == "base"
    assert source.sources == (SourceField("composite", "spec.missing", CONDITION),)


def test_a_required_patch_is_a_condition_of_the_whole_resource():
    patch = {
        "fromFieldPath": "spec.region",
        "toFieldPath": "data.region",
        "policy": {"fromFieldPath": "Required"},
    }
    source = explained([patch]).of("cm", "data.fixed")
    assert source is not None
    assert source.sources == (SourceField("composite", "spec.region", CONDITION),)


def test_a_field_from_the_environment_names_the_source_of_the_environment():
    environment = {"patches": [{"fromFieldPath": "spec.region", "toFieldPath": "made"}]}
    patch = {"type": "FromEnvironmentFieldPath", "fromFieldPath": "made", "toFieldPath": "data.made"}
    source = explained([patch], environment=environment).of("cm", "data.made")
    assert source is not None
    assert source.sources == (SourceField("environment", "made"), SourceField("composite", "spec.region"))


def test_a_patch_set_is_named():
    sets = [{"name": "common", "patches": [{"fromFieldPath": "spec.region", "toFieldPath": "data.region"}]}]
    source = explained([{"type": "PatchSet", "patchSetName": "common"}], patchSets=sets).of(
        "cm", "data.region"
    )
    assert source is not None
    assert source.how == "patch 0 of patch set common (FromCompositeFieldPath)"
    assert source.where == "patchSets[0].patches[0]"


def test_a_status_field_names_the_observed_resource():
    patch = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.id"}
    source = explained([patch], exists=True).of("", "status.id")
    assert source is not None
    assert source.sources == (SourceField("observed/cm", "status.id"),)


def test_templates_of_mode_resources_are_explained_too():
    patch = {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.region", "toFieldPath": "data.region"}
    step_input = {
        "apiVersion": "crossply.dev/v1alpha1",
        "kind": "NativeResources",
        "resources": [{"name": "cm", "base": BASE, "patches": [patch]}],
    }
    request = Request(State(Resource(XR)), State(), input=step_input)
    provenance = explain_pipeline([StepCall("resources", NATIVE_FUNCTION, request, run_native(request))])
    source = provenance.of("cm", "data.region")
    assert source is not None
    assert source.how == "patch 0 (FromCompositeFieldPath)"


def test_a_required_patch_of_mode_resources_decides_about_the_status_that_the_resource_gives():
    required = {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.region",
        "toFieldPath": "data.region",
        "policy": {"fromFieldPath": "Required"},
    }
    status = {"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.id"}
    step_input = {"resources": [{"name": "cm", "base": BASE, "patches": [required, status]}]}
    request = Request(State(Resource(XR), {"cm": Resource(OBSERVED)}), State(), input=step_input)
    provenance = explain_pipeline([StepCall("resources", NATIVE_FUNCTION, request, run_native(request))])
    assert provenance[""]["status.id"].sources == (
        SourceField("observed/cm", "status.id"),
        SourceField("composite", "spec.region", CONDITION),
    )


def test_a_field_set_by_two_steps_lists_the_earlier_one():
    first = explained([]).of("cm", "data.region")
    step_input = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "cm", "base": BASE, "patches": []}],
    }
    request = Request(State(Resource(XR)), State(), input=step_input)
    response = run(request)
    assert response.desired is not None
    changed = {**BASE, "data": {"region": "other", "fixed": "yes"}}
    desired = response.desired._replace(resources={"cm": Resource(changed)})
    later = Request(State(Resource(XR)), response.desired)
    calls = [
        StepCall("compose", "function-patch-and-transform", request, response),
        StepCall("change", "function-mine", later, response._replace(desired=desired)),
    ]
    provenance = explain_pipeline(calls)
    source = provenance.of("cm", "data.region")
    assert source is not None
    assert (source.step, source.how, source.before) == ("change", "function", (first,))
    assert source.sources == (SourceField("request", ""),)
    unchanged = provenance.of("cm", "data.fixed")
    assert unchanged is not None
    assert unchanged.step == "compose"


def test_a_key_of_the_connection_secret_names_the_detail_and_the_resource():
    xr = {**XR, "spec": {**XR["spec"], "crossplane": {}}}
    details = [{"name": "id", "type": "FromFieldPath", "fromFieldPath": "status.id"}]
    step_input = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "cm", "base": BASE, "connectionDetails": details}],
    }
    request = Request(State(Resource(xr), {"cm": Resource(OBSERVED)}), State(), input=step_input)
    call = StepCall("compose", "function-patch-and-transform", request, run(request))
    source = explain_pipeline([call]).of("web-connection-secret", "data.id")
    assert source is not None
    assert source.how == "connection detail 0 of cm (FromFieldPath)"
    assert source.sources[0] == SourceField("observed/cm", "status.id")


def test_an_item_that_a_patch_would_add_is_a_condition_of_those_that_are_appended_later():
    missing = {"fromFieldPath": "spec.missing", "toFieldPath": "data.list[2]"}
    appended = {
        "fromFieldPath": "spec.more",
        "toFieldPath": "data.list",
        "policy": {"toFieldPath": "ForceMergeObjectsAppendArrays"},
    }
    start = {"fromFieldPath": "spec.words", "toFieldPath": "data.list"}
    source = explained([start, missing, appended]).of("cm", "data.list[2]")
    assert source is not None
    assert SourceField("composite", "spec.missing", CONDITION) in source.sources
