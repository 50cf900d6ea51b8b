"""Operations in the engine's wire format, spoken with a real process."""

from __future__ import annotations

import pytest
from google.protobuf.json_format import MessageToDict

from crossply.functions.proto.render.v1alpha1.render_pb2 import RenderRequest, RenderResponse
from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from tests.support.cli.render_bench import CONFIG_MAP, Bench, serving

API = "ops.crossplane.io/v1alpha1"
STEP = {"step": "tell", "functionRef": {"name": "f"}}
SPEC = {"mode": "Pipeline", "pipeline": [STEP]}
SETTINGS = {**CONFIG_MAP, "metadata": {"name": "settings", "namespace": "default", "uid": "u"}}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def exchange(bench, request):
    done = bench.run(stdin=request.SerializeToString(), command=("internal", "render"))
    err = done.stderr.decode()
    assert "internal error" not in err
    return done.returncode, RenderResponse.FromString(done.stdout), err


def operation_request_to(address, **required):
    request = RenderRequest()
    operation_request = request.operation
    operation_request.operation.update(
        {"apiVersion": API, "kind": "Operation", "metadata": {"name": "op"}, "spec": SPEC}
    )
    operation_request.functions.add(name="f", address=address)
    for obj in required.values():
        operation_request.required_resources.add().update(obj)
    return request


def wants_settings(data, context):
    """A function that requires an object, and fails where there is none."""
    request = RunFunctionRequest.FromString(data)
    reply = RunFunctionResponse()
    selector = reply.requirements.resources["settings"]
    selector.api_version, selector.kind, selector.match_name, selector.namespace = (
        "v1",
        "ConfigMap",
        "settings",
        "default",
    )
    items = request.required_resources["settings"].items if "settings" in request.required_resources else None
    if items:
        reply.desired.resources["it"].resource.CopyFrom(items[0].resource)
        reply.results.add(severity=3, message="hello")
    elif items is not None:
        reply.results.add(severity=1, message="no settings")
    return reply.SerializeToString()


def test_the_output_of_an_operation_has_applied_resources_and_events(bench):
    with serving(wants_settings) as address:
        code, response, err = exchange(bench, operation_request_to(address, settings=SETTINGS))
    assert (code, err) == (0, "")
    out = response.operation
    assert MessageToDict(out.applied_resources[0]) == SETTINGS
    conditions = {
        condition["type"]: condition["reason"]
        for condition in MessageToDict(out.operation)["status"]["conditions"]
    }
    assert conditions["Succeeded"] == "PipelineSuccess"
    assert [(event.reason, event.message) for event in out.events] == [
        ("RunPipelineStep", 'Pipeline step "tell": hello')
    ]
    assert MessageToDict(out.required_resources[0])["matchName"] == "settings"


def test_a_fatal_result_exits_3_and_reports_the_requirements(bench):
    with serving(wants_settings) as address:
        code, response, err = exchange(bench, operation_request_to(address))
    assert code == 3
    assert 'cannot render operation: pipeline step "tell" returned a fatal result: no settings' in err
    assert response.operation.operation["status"]["failures"] == 1
    assert len(response.operation.required_resources) == 1
    assert response.operation.events[-1].reason == "FunctionInvocation"


def template(kind, **spec):
    template_spec = {"operationTemplate": {"spec": SPEC}, **spec}
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "it", "uid": "u"}, "spec": template_spec}


@pytest.mark.parametrize("seconds", [0, 1700000000])
def test_the_operation_of_a_schedule_is_created(bench, seconds):
    request = RenderRequest()
    request.cron_operation.cron_operation.update(template("CronOperation", schedule="@daily"))
    request.cron_operation.scheduled_time.FromSeconds(seconds)
    code, response, _ = exchange(bench, request)
    assert code == 0
    operation = MessageToDict(response.cron_operation.operation)
    assert operation["metadata"]["name"] == f"it-{seconds}"
    assert operation["metadata"]["labels"] == {"ops.crossplane.io/cronoperation": "it"}


def test_the_operation_for_a_watched_resource_is_created(bench):
    request = RenderRequest()
    watch = {"apiVersion": "v1", "kind": "ConfigMap"}
    request.watch_operation.watch_operation.update(template("WatchOperation", watch=watch))
    request.watch_operation.watched_resource.update(SETTINGS)
    code, response, _ = exchange(bench, request)
    assert code == 0
    (step,) = MessageToDict(response.watch_operation.operation)["spec"]["pipeline"]
    assert step["requirements"]["requiredResources"] == [
        {
            "requirementName": "ops.crossplane.io/watched-resource",
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "settings",
            "namespace": "default",
        }
    ]
