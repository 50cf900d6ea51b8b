"""One reconcile in memory: identity, metadata, conditions, events, references, in the reconciler's order."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.engine_field_paths import LEGACY
from crossply.compose.errors import (
    ComposedResourceError,
    IncompatibleComposition,
    ObservedError,
    RenderInputError,
    StepFailed,
)
from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    SEVERITY_NORMAL,
    SEVERITY_UNSPECIFIED,
    SEVERITY_WARNING,
    STATUS_TRUE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Resource,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.environment_configs import function as environment_configs
from tests.support.composition_platform import Platform, config_map, desires, make_xr

UID = "859398a7-f22f-5614-9987-122451046955"
NOW = "2024-01-01T00:00:00Z"


def test_a_composed_resource_inherits_identity_from_its_xr(platform: Platform) -> None:
    rendered = platform.render([platform.step("a", desires(bucket=config_map()))])

    (composed,) = rendered.composed
    assert composed["metadata"] == {
        "name": "my-xr-39fa5e0ffef1",
        "generateName": "my-xr-",
        "namespace": "default",
        "labels": {"crossplane.io/composite": "my-xr"},
        "annotations": {"crossplane.io/composition-resource-name": "bucket"},
        "ownerReferences": [
            {
                "apiVersion": "example.org/v1",
                "kind": "XBucket",
                "name": "my-xr",
                "uid": UID,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def test_the_xr_is_shown_with_its_references_and_conditions(platform: Platform) -> None:
    rendered = platform.render([platform.step("a", desires(bucket=config_map()))])

    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "my-xr-39fa5e0ffef1"}]
    assert rendered.composite["spec"] == {"crossplane": {"resourceRefs": refs}}
    assert [(c["type"], c["status"], c["reason"]) for c in rendered.composite["status"]["conditions"]] == [
        ("Responsive", "True", "WatchCircuitClosed"),
        ("Synced", "True", "ReconcileSuccess"),
        ("Ready", "True", "Available"),
    ]
    assert {c["lastTransitionTime"] for c in rendered.composite["status"]["conditions"]} == {NOW}


def test_a_legacy_xr_keeps_its_machinery_right_under_spec(platform: Platform) -> None:
    platform.machinery = LEGACY
    rendered = platform.render([])
    assert rendered.composite["spec"] == {"resourceRefs": []}


def test_functions_see_the_xr_as_the_reconciler_has_prepared_it(platform: Platform) -> None:
    platform.render([platform.step("a", desires())])

    observed_xr = platform.calls[0][1].observed.composite.object
    assert observed_xr["metadata"]["uid"] == UID
    assert observed_xr["metadata"]["labels"] == {"crossplane.io/composite": "my-xr"}
    assert observed_xr["spec"]["crossplane"]["compositionRef"] == {"name": "comp"}
    assert observed_xr["status"]["conditions"][0]["type"] == "Responsive"
    assert type(observed_xr["spec"]["size"]) is float, "numbers are doubles, as they are on the wire"


def test_whole_numbers_come_back_as_integers(platform: Platform) -> None:
    obj = {**config_map(), "spec": {"five": 5.0, "half": 0.5, "huge": 1e21, "list": [1.0, {"two": 2.0}]}}
    rendered = platform.render([platform.step("a", desires(x=obj))])

    spec = rendered.composed[0]["spec"]
    assert spec == {"five": 5, "half": 0.5, "huge": 1e21, "list": [1, {"two": 2}]}
    assert type(spec["five"]) is int
    assert type(spec["huge"]) is float


def test_an_unready_resource_makes_the_xr_unready_and_is_named(platform: Platform) -> None:
    def unready(request: Request) -> Response:
        resources = {name: Resource(config_map()) for name in ("d", "b", "a", "c")}
        return respond(request, desired=State(None, resources))

    rendered = platform.render([platform.step("s", unready)])
    ready = rendered.composite["status"]["conditions"][-1]
    assert (ready["status"], ready["reason"]) == ("False", "Creating")
    assert ready["message"] == "Unready resources: a, b, c, and 1 more"
    assert 'Composed resource "a" is not yet ready' in [e.message for e in rendered.events]


@pytest.mark.parametrize(
    ("ready", "status", "reason"), [(READY_TRUE, "True", "Available"), (READY_FALSE, "False", "Creating")]
)
def test_the_readiness_a_function_sets_on_the_xr_beats_ours(
    platform: Platform, ready: int, status: str, reason: str
) -> None:
    def run(request: Request) -> Response:
        return respond(request, desired=State(Resource({}, ready=ready), {"a": Resource(config_map())}))

    rendered = platform.render([platform.step("s", run)])
    condition = rendered.composite["status"]["conditions"][-1]
    assert (condition["status"], condition["reason"]) == (status, reason)
    assert "message" not in condition


def test_results_become_events_that_name_their_step(platform: Platform) -> None:
    results = (
        Result(SEVERITY_NORMAL, "all well", "Why"),
        Result(SEVERITY_WARNING, "watch out", None, TARGET_COMPOSITE_AND_CLAIM),
        Result(SEVERITY_UNSPECIFIED, "hm"),
    )
    rendered = platform.render([platform.step("s", lambda r: respond(r, results=results))])

    events = [(e.type, e.reason, e.message, e.claim_message) for e in rendered.events[1:]]
    unknown = 'Pipeline step "s" returned a result of unknown severity (assuming warning): hm'
    assert events == [
        ("Normal", "Why", 'Pipeline step "s": all well', None),
        ("Warning", "ComposeResources", 'Pipeline step "s": watch out', "watch out"),
        ("Warning", "ComposeResources", unknown, None),
    ]


def test_a_fatal_result_stops_the_pipeline_and_keeps_earlier_results(platform: Platform) -> None:
    first = platform.step("a", lambda r: respond(r, results=(Result(SEVERITY_NORMAL, "hello"),)))
    second = platform.step("b", lambda r: fatal(r, "no luck"))
    third = platform.step("c", desires(x=config_map()))

    with pytest.raises(StepFailed) as failure:
        platform.render([first, second, third])

    assert str(failure.value) == (
        'cannot compose resources: pipeline step "b" returned a fatal result: no luck'
    )
    assert [name for name, _ in platform.calls] == ["a", "b"]
    assert [e.message for e in platform.rendering.report.events] == ['Pipeline step "a": hello']


def test_custom_conditions_stand_between_responsive_and_synced_and_system_ones_are_ignored(
    platform: Platform,
) -> None:
    conditions = (Condition("Cool", STATUS_TRUE, "Yes", "so cool"), Condition("Ready", STATUS_TRUE, "Mine"))
    rendered = platform.render([platform.step("s", lambda r: respond(r, conditions=conditions))])

    shown = rendered.composite["status"]["conditions"]
    assert [c["type"] for c in shown] == ["Responsive", "Cool", "Synced", "Ready"]
    assert shown[-1]["reason"] == "Available"


def test_only_the_status_of_the_desired_xr_counts(platform: Platform) -> None:
    desired_xr = {"spec": {"size": 9.0}, "metadata": {"labels": {"a": "b"}}, "status": {"address": "x"}}
    rendered = platform.render(
        [platform.step("s", lambda r: respond(r, desired=State(Resource(desired_xr))))]
    )

    assert rendered.composite["status"]["address"] == "x"
    assert rendered.composite["spec"] == {"crossplane": {"resourceRefs": []}}
    assert "labels" not in rendered.composite["metadata"]


def test_an_observed_resource_keeps_its_name_regardless_of_the_function(platform: Platform) -> None:
    observed = config_map(
        name="real", namespace="default", annotations={"crossplane.io/composition-resource-name": "bucket"}
    )
    desired_function = desires(bucket=config_map(name="other", namespace="elsewhere"))
    rendered = platform.render([platform.step("s", desired_function)], observed=[observed])

    metadata = rendered.composed[0]["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("real", "default")
    assert "generateName" not in metadata


def test_a_resource_no_longer_desired_is_deleted_only_if_it_is_ours(platform: Platform) -> None:
    annotation = {"crossplane.io/composition-resource-name": "old"}
    owned = config_map(
        name="ours",
        namespace="default",
        annotations=annotation,
        ownerReferences=[{"uid": UID, "controller": True, "kind": "XBucket", "name": "my-xr"}],
    )
    nobodys = config_map(
        name="free", namespace="default", annotations={"crossplane.io/composition-resource-name": "free"}
    )
    rendered = platform.render([platform.step("s", desires())], observed=[owned, nobodys])
    assert [obj["metadata"]["name"] for obj in rendered.deleted] == ["ours"]


def test_another_namespace_is_overridden_with_a_warning(platform: Platform) -> None:
    rendered = platform.render([platform.step("s", desires(a=config_map(namespace="other")))])

    assert rendered.composed[0]["metadata"]["namespace"] == "default"
    warning = next(e for e in rendered.events if e.reason == "NamespaceOverridden")
    assert warning.message == (
        'cannot create composed resource "a" in namespace "other", using XR namespace "default" instead'
    )


def test_references_of_a_cluster_scoped_xr_name_the_namespace(platform: Platform) -> None:
    rendered = platform.render(
        [platform.step("s", desires(b=config_map(name="b", namespace="y"), a=config_map(name="a")))],
        xr=make_xr(namespace=""),
    )
    refs = rendered.composite["spec"]["crossplane"]["resourceRefs"]
    assert [(r["name"], r.get("namespace")) for r in refs] == [("a", None), ("b", "y")]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"name": "Not Valid"}, 'because it has an invalid name "Not Valid"'),
        (
            {"name": "x", "ownerReferences": [{"uid": "z", "controller": True, "kind": "Pod", "name": "p"}]},
            "x is already controlled by Pod p (UID z)",
        ),
    ],
)
def test_metadata_that_cannot_be_honoured_is_an_error(
    platform: Platform, metadata: dict[str, object], message: str
) -> None:
    with pytest.raises(ComposedResourceError, match="cannot compose resources") as failure:
        platform.render([platform.step("s", desires(a=config_map(**metadata)))])
    assert message in str(failure.value)


def test_metadata_of_the_wrong_type_reads_as_absent(platform: Platform) -> None:
    odd = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"a": 1.0}, "name": 5.0}}
    rendered = platform.render([platform.step("s", desires(a=odd, b={**config_map(), "metadata": "x"}))])
    assert [c["metadata"]["labels"] for c in rendered.composed] == [{"crossplane.io/composite": "my-xr"}] * 2


def test_an_xr_without_a_name_cannot_compose(platform: Platform) -> None:
    with pytest.raises(
        ComposedResourceError, match=r'cannot find top-level .* label "crossplane.io/composite"'
    ):
        platform.render([platform.step("s", desires(a=config_map()))], xr=make_xr(name=""))


def test_an_observed_resource_of_another_owner_is_refused(platform: Platform) -> None:
    alien = config_map(name="a", namespace="elsewhere", ownerReferences=[{"uid": "z", "controller": True}])
    with pytest.raises(RenderInputError) as failure:
        platform.render([], observed=[alien])
    assert str(failure.value) == (
        "invalid observed resources: [observed resource a has a controller ref but is not controlled by the "
        "XR, observed resource a is not in the same namespace as the XR]"
    )
    assert "set metadata.uid of the composite resource to the uid in their ownerReferences (z)" in (
        failure.value.hint
    )
    assert "remove ownerReferences" in failure.value.hint


@pytest.mark.parametrize(
    ("source", "description"),
    [
        ({"type": "Reference", "ref": {"name": "base"}}, 'EnvironmentConfig "base"'),
        (
            {
                "type": "Selector",
                "selector": {"matchLabels": [{"type": "Value", "key": "tier", "value": "one"}]},
            },
            "EnvironmentConfig",
        ),
    ],
)
def test_a_required_resource_that_is_there_in_another_version_is_hinted_at(
    platform: Platform, source: dict[str, Any], description: str
) -> None:
    labels = {"tier": "one"}
    older = {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "EnvironmentConfig",
        "metadata": {"name": "base", "labels": labels},
    }
    platform.world = [older, {**older, "apiVersion": "example.org/v1beta1"}]
    config_input = {"spec": {"environmentConfigs": [source]}}
    with pytest.raises(StepFailed) as failure:
        platform.render([platform.step("env", environment_configs.run, input=config_input)])
    assert failure.value.hint == (
        f"{description} is there in apiVersion apiextensions.crossplane.io/v1alpha1; "
        "use apiextensions.crossplane.io/v1beta1"
    )
    platform.world = [{**older, "apiVersion": "example.org/v1beta1"}]
    with pytest.raises(StepFailed) as failure:
        platform.render([platform.step("env", environment_configs.run, input=config_input)])
    assert failure.value.hint == StepFailed.hint


def test_an_observed_resource_must_have_its_name_in_the_pipeline(platform: Platform) -> None:
    with pytest.raises(ObservedError, match="without required"):
        platform.render([], observed=[config_map(name="a", namespace="default")])


def test_a_composition_of_another_kind_is_refused(platform: Platform) -> None:
    with pytest.raises(IncompatibleComposition):
        platform.render([], xr={**make_xr(), "kind": "XOther"})


def test_a_paused_xr_is_not_composed(platform: Platform) -> None:
    xr = make_xr(annotations={"crossplane.io/paused": "true"})
    rendered = platform.render([platform.step("s", desires(a=config_map()))], xr=xr)
    assert platform.calls == []
    assert rendered.composite["status"]["conditions"][-1]["reason"] == "ReconcilePaused"


def test_a_deleted_xr_is_not_composed(platform: Platform) -> None:
    rendered = platform.render([platform.step("s", desires())], xr=make_xr(deletionTimestamp=NOW))
    assert platform.calls == []
    reasons = [c["reason"] for c in rendered.composite["status"]["conditions"]]
    assert reasons == ["WatchCircuitClosed", "Deleting", "ReconcileSuccess"]


def test_conditions_that_did_not_change_keep_their_time(platform: Platform) -> None:
    synced = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": "then"}
    xr = {**make_xr(), "status": {"conditions": [synced]}}
    rendered = platform.render([], xr=xr)
    assert rendered.composite["status"]["conditions"][0] == synced
