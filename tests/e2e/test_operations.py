"""Operations (reference: ops §§1 to 3): pipelines that run once, on a schedule, or when something changes."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    SECOND,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    Resource,
    Response,
    Result,
    State,
)
from crossply.control.kinds import CRON_OPERATION, OPERATION, WATCH_OPERATION
from crossply.kube.client import Client
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import CONFIG_MAP, FUNCTION, Scenario, condition
from tests.support.e2e.things import message_of, until_event_recorded

pytestmark = pytest.mark.xdist_group("e2e")

SUCCEEDED = condition("Succeeded", "True", "PipelineSuccess")
WATCHED = "ops.crossplane.io/watched-resource"


def wanting(*objects, **more):
    return Response(State(None, {f"it-{n}": Resource(obj) for n, obj in enumerate(objects)}), **more)


def config_map(s, name, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": s.id},
        "data": data,
    }


def operation_body(s, kind, *steps, name="it", **spec):
    """An Operation of these steps, or something that makes such."""
    pipeline = {"mode": "Pipeline", "pipeline": list(steps)}
    spec = {**pipeline, **spec} if kind is OPERATION else {"operationTemplate": {"spec": pipeline}, **spec}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": f"{s.id}-{name}"},
        "spec": spec,
    }


async def called(s: Scenario, address: str, **fields):
    """A step that calls a function, once that can be called: what fails before counts as a failure."""
    step = await calling(s, address, **fields)
    await s.until(FUNCTION, step["functionRef"]["name"], condition("Healthy", "True"))
    return step


async def children(s: Scenario, label: str, name: str = "it"):
    import orjson

    listed = await s.client.list(OPERATION, label_selector=f"ops.crossplane.io/{label}={s.id}-{name}")
    return [orjson.loads(data) for data in listed.items]


async def test_an_operation_applies_its_desired_resources_and_never_reruns(s):
    """It owns the fields that it applies, and nothing else; what it puts out is in its status."""
    calls = []

    def function(request):
        calls.append(request)
        (match,) = request.required_resources["settings"]
        name = match.object["metadata"]["name"]
        namespace = match.object["metadata"]["namespace"]
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}
        results = (Result(SEVERITY_NORMAL, "looked"),)
        return wanting(
            {**obj, "data": {"seen": "yes"}}, results=results, output={"count": 1.0}, ttl=60 * SECOND
        )

    with served(function) as address:
        await s.client.create(CONFIG_MAP, config_map(s, "settings", mine="stays"))
        required = {"requirementName": "settings", "apiVersion": "v1", "kind": "ConfigMap"}
        required |= {"name": "settings", "namespace": s.id}
        step = await called(s, address, requirements={"requiredResources": [required]})
        await s.client.create(OPERATION, operation_body(s, OPERATION, step))
        operation = await s.until(OPERATION, f"{s.id}-it", SUCCEEDED)
        applied = await s.client.get(CONFIG_MAP, "settings", s.id)
        assert applied["data"] == {"mine": "stays", "seen": "yes"}
        assert "ownerReferences" not in applied["metadata"]
        uid = operation["metadata"]["uid"]
        managers = {entry["manager"] for entry in applied["metadata"]["managedFields"]}
        assert f"ops.crossplane.io/operation/{uid}" in managers
        status = operation["status"]
        assert status["pipeline"] == [{"step": "tell", "output": {"count": 1}}]
        assert status["appliedResourceRefs"] == [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "namespace": s.id}
        ]
        assert condition("Synced", "True", "ReconcileSuccess")(operation)
        assert condition("ValidPipeline", "True", "ValidPipeline")(operation)
        await until_event_recorded(s, operation, "Normal", "RunPipelineStep", 'Pipeline step "tell": looked')
        # Another one fetches it anew, though the cached response would still be valid.
        await s.client.create(OPERATION, operation_body(s, OPERATION, step, name="again"))
        await s.until(OPERATION, f"{s.id}-again", SUCCEEDED)
        assert len(calls) == 2
        annotation_patch = {"metadata": {"annotations": {"touched": "yes"}}}
        await s.client.patch_merge(OPERATION, f"{s.id}-it", annotation_patch)
        await s.until(OPERATION, f"{s.id}-it", SUCCEEDED)
        assert len(calls) == 2
        await s.client.delete(OPERATION, f"{s.id}-it")
        assert (await s.client.get(CONFIG_MAP, "settings", s.id))["data"]["seen"] == "yes"


async def test_a_failing_operation_is_retried_up_to_its_limit(s):
    calls = []

    def function(request):
        calls.append(request)
        if request.input["mode"] == "always" or len(calls) == 1:
            return Response(results=(Result(SEVERITY_FATAL, "not now"),))
        return wanting(output={"tries": float(len(calls))})

    with served(function) as address:
        step_input = {"apiVersion": "example.org/v1", "kind": "Mode"}
        step = await called(s, address, input={**step_input, "mode": "once"})
        await s.client.create(OPERATION, operation_body(s, OPERATION, step))
        operation = await s.until(OPERATION, f"{s.id}-it", SUCCEEDED)
        assert operation["status"]["failures"] == 1
        assert operation["status"]["pipeline"][0]["output"] == {"tries": 2}
        step = await called(s, address, input={**step_input, "mode": "always"})
        await s.client.create(OPERATION, operation_body(s, OPERATION, step, name="never", retryLimit=2))
        operation = await s.until(
            OPERATION, f"{s.id}-never", condition("Succeeded", "False", "PipelineError")
        )
        assert message_of(operation, "Succeeded") == "failure limit of 2 reached"
        assert operation["status"]["failures"] == 2
        assert len(calls) == 4
        message = 'pipeline step "tell" returned a fatal result: not now'
        await until_event_recorded(s, operation, "Warning", "FunctionInvocation", message)


async def test_a_failed_apply_is_reported(s):
    def function(request):
        return wanting({"apiVersion": "no.such.group/v1", "kind": "Nothing", "metadata": {"name": "x"}})

    with served(function) as address:
        step = await called(s, address)
        await s.client.create(OPERATION, operation_body(s, OPERATION, step, retryLimit=1))
        operation = await s.until(OPERATION, f"{s.id}-it", condition("Succeeded", "False"))

        async def invalid_resource_messages():
            return [event[2] for event in await s.events(operation) if event[1] == "InvalidResource"]

        (message,) = await s.eventually(invalid_resource_messages)
        assert message.startswith("cannot apply desired resource: ")


async def test_a_cron_operation_makes_operations_on_its_schedule_and_keeps_some(s):
    with served(lambda request: wanting()) as address:
        step = await called(s, address)
        cron = operation_body(s, CRON_OPERATION, step, schedule="@every 1s", successfulHistoryLimit=1)
        await s.client.create(CRON_OPERATION, cron)
        first = await s.eventually(lambda: children(s, "cronoperation"))
        assert first[0]["metadata"]["ownerReferences"][0]["kind"] == "CronOperation"
        name = first[0]["metadata"]["name"]
        await s.until_gone(OPERATION, name)  # newer ones came, and one stays
        cron_operation = await s.until(
            CRON_OPERATION, f"{s.id}-it", lambda cron: "lastSuccessfulTime" in cron["status"]
        )
        assert condition("Scheduling", "True", "ScheduleActive")(cron_operation)
        paused = {"metadata": {"annotations": {"crossplane.io/paused": "true"}}}
        await s.client.patch_merge(CRON_OPERATION, f"{s.id}-it", paused)
        await s.until(CRON_OPERATION, f"{s.id}-it", condition("Scheduling", "False", "SchedulePaused"))
        wrong = {"metadata": {"annotations": None}, "spec": {"schedule": "soon"}}
        await s.client.patch_merge(CRON_OPERATION, f"{s.id}-it", wrong)
        cron_operation = await s.until(
            CRON_OPERATION, f"{s.id}-it", condition("Scheduling", "False", "ScheduleInvalid")
        )
        assert "expected exactly 5 fields, found 1: [soon]" in message_of(cron_operation, "Scheduling")


async def test_a_watch_operation_creates_an_operation_for_every_change_of_a_watched_object(s):
    observed = []

    def function(request):
        (match,) = request.required_resources[WATCHED] or (None,)
        observed.append(None if match is None else match.object["data"])
        return wanting()

    async def scenario(s, address):
        await s.client.create(CONFIG_MAP, config_map(s, "other", n="0"))
        step = await called(s, address)
        labels = {"watched": s.id}
        watch = {"apiVersion": "v1", "kind": "ConfigMap", "matchLabels": labels, "namespace": s.id}
        await s.client.create(WATCH_OPERATION, operation_body(s, WATCH_OPERATION, step, watch=watch))
        await s.until(WATCH_OPERATION, f"{s.id}-it", condition("Watching", "True", "WatchActive"))
        settings = config_map(s, "settings", n="1")
        settings["metadata"]["labels"] = labels
        await s.client.create(CONFIG_MAP, settings)
        await until_observed(s, {"n": "1"})
        watch_operation = await s.until(
            WATCH_OPERATION, f"{s.id}-it", lambda obj: obj["status"].get("watchingResources") == 1
        )
        await s.client.patch_merge(CONFIG_MAP, "settings", {"data": {"n": "2"}}, s.id)
        await until_observed(s, {"n": "2"})
        await s.client.delete(CONFIG_MAP, "settings", s.id)
        await until_observed(s, None)
        assert {"n": "0"} not in observed
        (child, *_) = await children(s, "watchoperation")
        assert child["metadata"]["annotations"]["ops.crossplane.io/watched-resource-name"] == "settings"
        await s.until(WATCH_OPERATION, f"{s.id}-it", lambda obj: obj["status"].get("watchingResources") == 0)
        await s.client.delete(WATCH_OPERATION, f"{s.id}-it")
        await s.until_gone(OPERATION, child["metadata"]["name"])
        assert watch_operation["status"]["lastScheduleTime"]

    async def until_observed(s, data):
        async def is_observed():
            return data in observed

        await s.eventually(is_observed)

    with served(function) as address:
        await scenario(s, address)


async def test_a_watch_operation_whose_operations_change_its_watched_objects_is_slowed_down(s):
    """Without a limit there are hundreds of Operations a minute. It goes on once the loop is over."""
    runs = []

    def function(request):
        runs.append(None)
        if len(runs) > _LOOPS:
            return wanting()
        (match,) = request.required_resources[WATCHED]
        obj = match.object
        metadata = {key: obj["metadata"][key] for key in ("name", "namespace", "labels")}
        count = str(int(obj["data"]["n"]) + 1)
        return wanting({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"n": count}})

    async def scenario(s, address):
        step = await called(s, address)
        watch = {"apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"watched": s.id}, "namespace": s.id}
        settings = config_map(s, "settings", n="1")
        settings["metadata"]["labels"] = {"watched": s.id}
        await s.client.create(CONFIG_MAP, settings)
        await s.client.create(WATCH_OPERATION, operation_body(s, WATCH_OPERATION, step, watch=watch))
        looping = condition("Responsive", "False", "OperationLoop")
        watch_operation = await s.until(WATCH_OPERATION, f"{s.id}-it", looping)
        assert message_of(watch_operation, "Responsive").startswith(
            f"Operations change ConfigMap settings in namespace {s.id}, which makes further Operations"
        )
        # The burst, and as many as a slow machine had time for until this was reported.
        assert len(runs) <= _LOOPS

        async def over():
            return len(runs) > _LOOPS

        await s.eventually(over)
        await s.client.delete(WATCH_OPERATION, f"{s.id}-it")

    with served(function) as address:
        await scenario(s, address)


_LOOPS = 12
"""Two more than the burst: a loop that ends by itself."""


async def test_a_watch_operation_of_a_kind_that_is_not_there_waits_for_it(s):
    async def delete(client: Client, name: str) -> None:
        assert await client.delete(WATCH_OPERATION, name)

    watch = {"apiVersion": f"{s.group}/v1", "kind": "Nothing"}
    step = {"step": "x", "functionRef": {"name": "none"}}
    await s.client.create(WATCH_OPERATION, operation_body(s, WATCH_OPERATION, step, watch=watch))
    watch_operation = await s.until(
        WATCH_OPERATION, f"{s.id}-it", condition("Watching", "False", "WatchFailed")
    )
    assert message_of(watch_operation, "Watching").startswith(
        "cannot start watched resource controller watches: "
    )
    await delete(s.client, f"{s.id}-it")
