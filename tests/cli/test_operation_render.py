"""What `operation render` prints: the installed command, real files, every kind of operation."""

from __future__ import annotations

import pytest
import yaml

from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from tests.support.cli.render_bench import CONFIG_MAP, Bench, function, serving, table

API = "ops.crossplane.io/v1alpha1"
WATCHED = "ops.crossplane.io/watched-resource"
SETTINGS = {**CONFIG_MAP, "metadata": {"name": "settings", "namespace": "default"}, "data": {"a": "b"}}


def dummy(step="say", **response):
    return {
        "step": step,
        "functionRef": {"name": "dummy"},
        "input": {"apiVersion": "dummy.fn.crossplane.io/v1beta1", "kind": "Response", "response": response},
    }


def operation(*steps, kind="Operation", **more):
    spec = {"mode": "Pipeline", "pipeline": list(steps)}
    if kind != "Operation":
        spec = {"operationTemplate": {"metadata": {"labels": {"made": "by-template"}}, "spec": spec}}
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "op"}, "spec": spec, **more}


def wanting(obj=SETTINGS):
    return {"desired": {"resources": {"it": {"resource": obj}}}}


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    bench.write("functions.yaml", function("dummy", "example.com/crossplane-contrib/function-dummy:v1"))
    return bench


def render(bench, manifest, *words):
    bench.write("operation.yaml", manifest)
    done = bench.run("operation.yaml", "functions.yaml", *words, command=("operation", "render"))
    return done.returncode, list(yaml.safe_load_all(done.stdout.decode())), done.stderr.decode()


def conditions(shown):
    return {
        condition["type"]: (condition["status"], condition["reason"])
        for condition in shown["status"]["conditions"]
    }


def test_an_operation_is_shown_with_all_that_it_applies(bench):
    warning = {"severity": "SEVERITY_WARNING", "message": "careful", "reason": "Mine"}
    steps = dummy(**wanting(), results=[warning]), dummy("out", **wanting(), output={"answer": 42})
    code, documents, err = render(bench, operation(*steps), "-r")
    assert (code, err) == (0, "")
    shown, applied, result = documents
    assert applied == SETTINGS
    assert shown["spec"]["pipeline"][0]["step"] == "say"
    assert shown["status"]["appliedResourceRefs"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "settings"}
    ]
    assert shown["status"]["pipeline"] == [{"step": "out", "output": {"answer": 42}}]
    assert conditions(shown) == {
        "Succeeded": ("True", "PipelineSuccess"),
        "ValidPipeline": ("True", "ValidPipeline"),
        "Synced": ("True", "ReconcileSuccess"),
    }
    assert (result["severity"], result["reason"]) == ("Warning", "RunPipelineStep")
    assert result["message"] == 'Pipeline step "say": careful'


def test_functions_get_the_watched_resource_and_their_requirements(bench):
    def answer(data, context):
        request = RunFunctionRequest.FromString(data)
        assert not request.HasField("observed") or not request.observed.resources
        reply = RunFunctionResponse()
        (watched,) = request.required_resources[WATCHED].items
        reply.desired.resources["it"].resource.CopyFrom(watched.resource)
        reply.desired.resources["it"].resource["data"]["a"] = "seen"
        return reply.SerializeToString()

    bench.write("watched.yaml", SETTINGS)
    step = {"step": "look", "functionRef": {"name": "f"}}
    with serving(answer) as address:
        target = {"render__runtime": "Development", "render__runtime_development_target": address}
        bench.write("functions.yaml", function("f", "example.com/f:v1", **target))
        watch_operation = operation(step, kind="WatchOperation")
        code, documents, err = render(bench, watch_operation, "--watched-resource", "watched.yaml")
    assert (code, err) == (0, "")
    shown, applied = documents
    assert (shown["kind"], shown["metadata"]["labels"]) == ("Operation", {"made": "by-template"})
    assert applied["data"] == {"a": "seen"}


def test_a_cron_operation_is_rendered_as_the_operation_it_creates(bench):
    code, documents, _ = render(bench, operation(dummy(**wanting()), kind="CronOperation"))
    assert code == 0
    assert documents[0]["metadata"]["name"] == "op"
    assert documents[1] == SETTINGS


def test_the_older_name_works_and_context_is_passed_on(bench):
    bench.write("operation.yaml", operation(dummy()))
    words = ["operation.yaml", "functions.yaml", "-c", "--context-values", 'k={"a":1}']
    done = bench.run(*words, command=("alpha", "render", "op"))
    *_, context = yaml.safe_load_all(done.stdout.decode())
    assert context["fields"] == {"k": {"a": 1}}


def test_one_that_is_complete_or_failed_too_often_is_not_run(bench):
    done = {"conditions": [{"type": "Succeeded", "status": "True", "reason": "PipelineSuccess"}]}
    assert render(bench, operation(dummy(**wanting()), status=done))[:2] == (0, [])
    _, (shown,), _ = render(bench, operation(dummy(**wanting()), status={"failures": 5}))
    (succeeded,) = [
        condition for condition in shown["status"]["conditions"] if condition["type"] == "Succeeded"
    ]
    assert (succeeded["status"], succeeded["message"]) == ("False", "failure limit of 5 reached")


FATAL = {"results": [{"severity": "SEVERITY_FATAL", "message": "no"}]}


@table(
    "manifest sentence",
    (
        "a fatal result",
        operation(dummy(**FATAL)),
        'cannot render operation: pipeline step "say" returned a fatal result: no',
    ),
    (
        "a resource without a name",
        operation(dummy(**wanting(CONFIG_MAP))),
        'reconcile failed: cannot apply desired resource "it": it has no metadata.name',
    ),
    (
        "a function that is not there",
        operation({"step": "s", "functionRef": {"name": "nope"}}),
        'cannot render operation: reconcile failed: failed to invoke pipeline step "s"',
    ),
    ("another kind", SETTINGS, "not an operation type: ConfigMap/v1"),
)
def test_usage_errors_are_reported(bench, manifest, sentence):
    code, documents, err = render(bench, manifest)
    assert (code, documents) == (1, [])
    assert sentence in err


def test_a_watched_resource_is_exactly_one(bench):
    bench.write("watched.yaml", SETTINGS, SETTINGS)
    code, _, err = render(bench, operation(dummy()), "-w", "watched.yaml")
    assert code == 1
    assert "--watched-resource must contain exactly one resource, got 2" in err


@pytest.mark.parametrize("kind", ["Operation", "CronOperation", "WatchOperation"])
def test_an_operation_without_steps_is_refused_as_by_the_api_server(bench, kind):
    code, documents, err = render(bench, operation(kind=kind))
    assert (code, documents) == (1, [])
    assert "spec.pipeline in body should have at least 1 items" in err
