"""FunctionIO, the YAML of container functions: made of a request, and read into a response."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    Request,
    Resource,
    State,
)
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.function_io.container_function_output import read
from crossply.functions.function_io.container_function_stdin import to_function_io, write
from crossply.functions.function_io.pipeline_context_state import KEY, PipelineState, read_pipeline_state
from crossply.values.yaml import dump, load

XR = {"apiVersion": "acme.test/v1", "kind": "XDatabase", "metadata": {"name": "db"}, "spec": {"size": 20.0}}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
BUCKET = {"apiVersion": "acme.test/v1", "kind": "Bucket", "spec": {"count": 3.0}}
HEAD = {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "FunctionIO"}
NOTHING = PipelineState({})


def request(**changes):
    observed = State(
        Resource(XR, {"uri": b"db.test:5432"}),
        {"bucket": Resource({**BUCKET, "status": READY}, {"key": b"secret"})},
    )
    desired = State(Resource({"status": {"ok": True}}, {"user": b"admin"}), {"bucket": Resource(BUCKET)})
    return Request(**{"observed": observed, "desired": desired, **changes})


def answer(written, sent=None, carried=NOTHING):
    return read(dump({**HEAD, **written}).encode(), sent or request(), carried, "paint")


def test_a_request_is_written_with_every_field():
    checks = [{"type": "None"}]
    carried = PipelineState(
        {"bucket": {"readinessChecks": checks}}, ({"severity": "Normal", "message": "hello"},)
    )
    config = {"apiVersion": "acme.test/v1", "kind": "Config", "spec": {"n": 1}}
    assert load(write(request(), config, carried)) == {
        **HEAD,
        "config": config,
        "observed": {
            "composite": {
                "resource": {**XR, "spec": {"size": 20}},
                "connectionDetails": [{"name": "uri", "value": "db.test:5432"}],
            },
            "resources": [
                {
                    "name": "bucket",
                    "resource": {**BUCKET, "spec": {"count": 3}, "status": READY},
                    "connectionDetails": [{"name": "key", "value": "secret"}],
                }
            ],
        },
        "desired": {
            "composite": {
                "resource": {"status": {"ok": True}},
                "connectionDetails": [{"name": "user", "value": "admin"}],
            },
            "resources": [
                {"name": "bucket", "resource": {**BUCKET, "spec": {"count": 3}}, "readinessChecks": checks}
            ],
        },
        "results": [{"severity": "Normal", "message": "hello"}],
    }


def test_absent_fields_are_not_written():
    assert to_function_io(Request(State(Resource(XR))), None, NOTHING) == {
        **HEAD,
        "observed": {"composite": {"resource": {**XR, "spec": {"size": 20}}}},
    }


def test_a_function_that_writes_its_input_back_changes_nothing():
    sent = request()
    response = read(write(sent, {"kind": "Config"}, NOTHING), sent, NOTHING, "paint")
    assert response.desired.composite == sent.desired.composite
    assert response.desired.resources["bucket"].object == BUCKET
    assert response.results == ()


def observed():
    return to_function_io(request(), None, NOTHING)["observed"]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (lambda o: o["composite"]["resource"]["spec"].update(size=21), "composite.resource.spec.size"),
        (lambda o: o["composite"]["resource"].pop("spec"), "composite.resource.spec"),
        (
            lambda o: o["composite"]["connectionDetails"][0].update(value="eve"),
            "composite.connectionDetails.uri.value",
        ),
        (lambda o: o["resources"].append({"name": "b", "resource": {}}), "resources.b"),
        (lambda o: o["resources"].pop(), "resources.bucket"),
        (lambda o: o["resources"][0]["resource"]["status"].update(conditions=[]), "status.conditions"),
        (lambda o: o["resources"][0]["resource"].update({str(n): n for n in range(7)}), "and 2 more"),
        (lambda o: o.update(resources="all"), "ignored: resources"),
    ],
)
def test_a_function_that_changes_the_observed_state_is_named_in_a_warning(change, fields):
    returned = observed()
    change(returned)
    response = answer({"observed": returned})
    [result] = response.results
    assert result.severity == SEVERITY_WARNING
    assert result.reason == "ObservedStateChanged"
    assert 'function "paint" changed the observed state, which is ignored: ' in result.message
    assert fields in result.message
    assert "eve" not in result.message, "values may be secret"
    assert response.desired == answer({}).desired


@pytest.mark.parametrize(
    "change",
    [
        lambda o: o["resources"].reverse(),
        lambda o: o["composite"].update(connectionDetails=list(o["composite"]["connectionDetails"])),
        lambda o: o["composite"]["resource"].update(status=None, extra={}),
        lambda o: o.clear(),
    ],
    ids=["order", "a copy", "empty fields", "left out"],
)
def test_equivalent_observed_state_gives_no_warning(change):
    returned = observed()
    change(returned)
    assert answer({"observed": returned}).results == ()


def test_fields_a_function_omits_stay_unchanged():
    response = answer({"desired": {"composite": {"connectionDetails": [{"name": "user", "value": "eve"}]}}})
    assert response.desired.composite == Resource({"status": {"ok": True}}, {"user": b"eve"})
    assert response.desired.resources["bucket"].object == BUCKET


def test_a_list_of_resources_is_the_whole_list_and_null_is_none():
    new = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
    entries = [{"name": "new", "resource": new}, {"name": "bucket", "resource": None}]
    assert answer({"desired": {"resources": entries}}).desired.resources == {
        "new": Resource(new, {}, READY_UNSPECIFIED)
    }
    assert answer({"desired": {"resources": []}}).desired.resources == {}


@pytest.mark.parametrize(
    ("checks", "ready"),
    [
        (None, READY_TRUE),
        ([{"type": "None"}], READY_TRUE),
        ([{"type": "MatchString", "fieldPath": "spec.name", "matchString": "x"}], READY_UNSPECIFIED),
        ([{"type": "MatchInteger", "fieldPath": "spec.count", "matchInteger": 3}], READY_TRUE),
        ([{"type": "NonEmpty", "fieldPath": "status.address"}], READY_UNSPECIFIED),
        ([{"type": "MatchCondition", "matchCondition": {"type": "Ready", "status": "True"}}], READY_TRUE),
    ],
    ids=["its condition", "no check", "another text", "a number", "a missing field", "a condition"],
)
def test_readiness_checks_decide_whether_a_resource_is_ready(checks, ready):
    entry = {"name": "bucket", "resource": BUCKET, **({"readinessChecks": checks} if checks else {})}
    assert answer({"desired": {"resources": [entry]}}).desired.resources["bucket"].ready == ready


def test_a_resource_that_could_not_be_rendered_stays_unready():
    sent = request(desired=State(None, {"bucket": Resource(BUCKET, {}, READY_FALSE)}))
    assert answer({}, sent).desired.resources["bucket"].ready == READY_FALSE


def test_connection_details_come_from_observed_resources():
    details = [
        {"fromConnectionSecretKey": "key"},
        {"name": "size", "fromFieldPath": "spec.count"},
        {"name": "fixed", "type": "FromValue", "value": "f"},
        {"name": "absent", "fromFieldPath": "status.address"},
    ]
    entry = {"name": "bucket", "resource": BUCKET, "connectionDetails": details}
    connection_details = answer({"desired": {"resources": [entry]}}).desired.composite.connection_details
    assert connection_details == {"key": b"secret", "size": b"3", "fixed": b"f", "user": b"admin"}


def test_rules_of_templates_and_of_earlier_functions_are_passed_on():
    templates = {"bucket": {"connectionDetails": [{"fromConnectionSecretKey": "key"}]}}
    details = {"key": b"secret", "user": b"admin"}
    first = request(desired=State(Resource({}, details), {"bucket": Resource(BUCKET)}))
    carried = read_pipeline_state(first, templates)
    shown = to_function_io(first, None, carried)["desired"]
    assert shown["composite"]["connectionDetails"] == [{"name": "user", "value": "admin"}]
    assert shown["resources"][0]["connectionDetails"] == [{"fromConnectionSecretKey": "key"}]
    checks = [{"type": "MatchInteger", "fieldPath": "spec.count", "matchInteger": 4}]
    response = answer(
        {"desired": {"resources": [{**shown["resources"][0], "readinessChecks": checks}]}}, first, carried
    )
    second = request(desired=response.desired, context=response.context)
    entry = to_function_io(second, None, read_pipeline_state(second, templates))["desired"]["resources"][0]
    assert entry["readinessChecks"] == checks
    assert entry["connectionDetails"] == [{"fromConnectionSecretKey": "key"}]


def test_details_of_a_resource_that_is_no_longer_desired_go_with_it():
    templates = {"bucket": {"connectionDetails": [{"fromConnectionSecretKey": "key"}]}}
    sent = request(
        desired=State(Resource({}, {"key": b"secret", "user": b"u"}), {"bucket": Resource(BUCKET)})
    )
    response = answer({"desired": {"resources": []}}, sent, read_pipeline_state(sent, templates))
    assert response.desired.composite.connection_details == {"user": b"u"}


def test_details_that_are_not_text_survive_being_shown():
    sent = request(desired=State(Resource({}, {"store": b"\xff\x00"}), {}))
    response = read(write(sent, None, NOTHING), sent, NOTHING, "paint")
    assert response.desired.composite.connection_details == {"store": b"\xff\x00"}


def test_results_are_reported_once_though_they_are_passed_on():
    reported = [{"severity": "Warning", "message": "careful"}]
    first = answer({"results": reported})
    assert [(result.severity, result.message) for result in first.results] == [(SEVERITY_WARNING, "careful")]
    second = request(context=first.context)
    carried = read_pipeline_state(second, {})
    assert to_function_io(second, None, carried)["results"] == reported
    more = [*reported, {"severity": "Normal", "message": "done"}]
    assert [result.message for result in answer({"results": more}, second, carried).results] == ["done"]


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ("Fatal", SEVERITY_FATAL),
        ("Error", SEVERITY_FATAL),
        ("Warning", SEVERITY_WARNING),
        ("Normal", SEVERITY_NORMAL),
    ],
)
def test_severities(severity, expected):
    assert answer({"results": [{"severity": severity, "message": "m"}]}).results[0].severity == expected


def test_the_rest_of_the_context_is_passed_on():
    response = answer({}, request(context={"other": 1.0}))
    assert response.context["other"] == 1.0
    assert KEY in response.context


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"", "it wrote nothing on stdout"),
        (b"error: no", "must be a FunctionIO of apiextensions.crossplane.io/v1alpha1"),
        (b"hello", "must be an object, not a string"),
        (b"a: [", "yaml: line"),
        (dump({**HEAD, "desired": 1}).encode(), "desired: must be an object"),
        (dump({**HEAD, "desired": {"resources": [{}]}}).encode(), "desired.resources[0].name: must be there"),
        (
            dump({**HEAD, "desired": {"resources": [{"name": "a", "resource": {}}] * 2}}).encode(),
            "desired.resources[1].name: must be there, and only once",
        ),
        (
            dump({**HEAD, "desired": {"resources": [{"name": "a"}]}}).encode(),
            "desired.resources[0].resource: is required",
        ),
        (
            dump(
                {
                    **HEAD,
                    "desired": {
                        "resources": [{"name": "a", "resource": {}, "readinessChecks": [{"type": "X"}]}]
                    },
                }
            ).encode(),
            "invalid FunctionIO: desired.resources[0].readinessChecks[0]",
        ),
        (dump({**HEAD, "results": [{"severity": "Odd"}]}).encode(), "results[0].severity: must be Fatal"),
        (
            dump(HEAD).encode() + b"config: .nan\ndesired: {composite: {resource: {a: .nan}}}",
            "unsupported value: NaN",
        ),
        (b"\xff\xfe\x00", "yaml"),
        (b"{" * 100_000, "yaml"),
    ],
)
def test_an_invalid_function_io_is_refused_with_a_message(written, message):
    with pytest.raises(FunctionReplyDamaged) as refused:
        read(written, request(), NOTHING, "paint")
    assert message in str(refused.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: dump(HEAD).encode() + text.encode()))
@settings(max_examples=200, deadline=None)
def test_whatever_a_function_writes_is_a_response_or_an_error_of_ours(data):
    with contextlib.suppress(CrossplyError):
        read(data, request(), NOTHING, "paint")
