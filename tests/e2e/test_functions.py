"""Functions in a pipeline (reference: reconcile §§6, 10, 12): order, results, conditions, trouble."""

from __future__ import annotations

import base64

import pytest

from crossply.compose.function_messages import (
    SECOND,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_UNSPECIFIED,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    Condition,
    Response,
    Result,
)
from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, FUNCTION, SECRET, condition
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    config_map,
    desiring,
    failing,
    message_of,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")


def mode_of(request):
    """What the user configures this function to do."""
    return request.observed.composite.object["spec"].get("mode", "")


async def test_every_step_builds_on_the_one_before(s):
    """Desired state and context go from step to step; input is the step's own."""

    def function(request):
        words = [*(request.context or {}).get("said", ()), request.input["word"]]
        resources_by_step = {f"step-{len(words)}": config_map(data={"said": " ".join(words)})}
        return desiring(request, context={"said": words}, **resources_by_step)

    async def scenario(s, address):
        things = await Things.defined(s)
        words = [{"apiVersion": "example.org/v1", "kind": "Word", "word": word} for word in ("one", "two")]
        await things.compose(
            await calling(s, address, "first", input=words[0]),
            await calling(s, address, "second", input=words[1]),
        )
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        texts = {name: obj["data"]["said"] for name, obj in (await things.composed(xr)).items()}
        assert texts == {"step-1": "one", "step-2": "one two"}

    with served(function) as address:
        await scenario(s, address)


async def test_a_fatal_result_stops_the_pipeline_and_applies_nothing(s):
    def function(request):
        results = (Result(SEVERITY_WARNING, "low on disk", "Disk"), Result(SEVERITY_FATAL, "no disk"))
        conditions = (Condition("DiskReady", STATUS_FALSE, "Full", "no space"),)
        return Response(desiring(request, one=config_map()).desired, results=results, conditions=conditions)

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address), resources(entry("two", SIZE)))
        await things.apply("mine", {"size": "3"})
        xr = await things.until("mine", failing("no disk"))
        message = 'cannot compose resources: pipeline step "tell" returned a fatal result: no disk'
        assert message_of(xr) == message
        assert await things.composed(xr) == {}
        assert things.references(xr) == []
        # Results before the fatal one still count.
        await until_event_recorded(s, xr, "Warning", "ComposeResources", message)
        await until_event_recorded(s, xr, "Warning", "Disk", 'Pipeline step "tell": low on disk')
        assert condition("DiskReady", "False", "Full")(xr)


async def test_a_fatal_result_leaves_ready_as_it_was_and_makes_the_rest_unknown(s):
    def function(request):
        if mode_of(request) == "boom":
            return Response(results=(Result(SEVERITY_FATAL, "boom"),))
        conditions = (Condition("DiskReady", STATUS_TRUE, "Enough"),)
        return desiring(request, one=config_map())._replace(conditions=conditions)

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", READY, condition("DiskReady", "True", "Enough"))
        await things.apply("mine", {"mode": "boom"})
        xr = await things.until("mine", failing("boom"), condition("DiskReady", "Unknown", "FatalError"))
        assert READY(xr)
        assert message_of(xr, "DiskReady") == (
            "A fatal error occurred before the status of this condition could be determined."
        )
        await things.apply("mine", {"mode": "well"})
        await things.until("mine", SYNCED, condition("DiskReady", "True", "Enough"))


@pytest.mark.parametrize(
    ("severity", "type_", "message"),
    [
        (SEVERITY_WARNING, "Warning", 'Pipeline step "tell": hello'),
        (SEVERITY_NORMAL, "Normal", 'Pipeline step "tell": hello'),
        (
            SEVERITY_UNSPECIFIED,
            "Warning",
            'Pipeline step "tell" returned a result of unknown severity (assuming warning): hello',
        ),
    ],
    ids=["warning", "normal", "unspecified"],
)
async def test_results_become_events(s, severity, type_, message):
    with served(lambda request: Response(request.desired, (Result(severity, "hello"),))) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        await until_event_recorded(s, xr, type_, "ComposeResources", message)


async def test_conditions_of_functions_are_set_and_stay(s):
    """What a later run drops stays; the engine's own conditions are not a function's to set."""

    def function(request):
        if mode_of(request) == "silent":
            return Response(request.desired)
        conditions = (
            Condition("DiskReady", STATUS_FALSE, "Slow", "wait"),
            Condition("Odd", STATUS_UNKNOWN, "Odd"),
            Condition("Ready", STATUS_FALSE, "Mine"),
            Condition("Synced", STATUS_FALSE, "Mine"),
        )
        return Response(request.desired, conditions=conditions)

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        checks = (condition("DiskReady", "False", "Slow"), condition("Odd", "Unknown", "Odd"))
        xr = await things.until("mine", SYNCED, READY, *checks)
        assert message_of(xr, "DiskReady") == "wait"
        await things.apply("mine", {"mode": "silent"})
        await things.until("mine", lambda xr: xr["metadata"]["generation"] > 2 and SYNCED(xr))
        later = await things.until("mine", SYNCED, *checks)
        types = {"DiskReady", "Odd"}
        before, after = (
            [
                status_condition
                for status_condition in obj["status"]["conditions"]
                if status_condition["type"] in types
            ]
            for obj in (xr, later)
        )
        assert before == after


async def test_a_function_that_is_not_installed_is_waited_for(s):
    """A pipeline that names a missing function is valid; its XRs report it, and continue once it exists."""

    with served(lambda request: desiring(request, one=config_map())) as address:
        things = await Things.defined(s)
        step = {"step": "tell", "functionRef": {"name": f"{s.id}-tell"}}
        await things.compose(step)
        await things.apply("mine")
        xr = await things.until(
            "mine", failing(f'cannot get gRPC client connection for Function "{s.id}-tell"')
        )
        assert 'cannot run Composition pipeline step "tell"' in message_of(xr)
        await calling(s, address)
        await things.until("mine", SYNCED, READY)


async def test_a_function_that_moves_is_followed(s):
    def saying(word):
        return lambda request: desiring(request, one=config_map(data={"word": word}))

    with served(saying("old")) as first, served(saying("new")) as second:
        things = await Things.defined(s)
        await things.compose(await calling(s, first))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        name = things.references(xr)[0]["name"]
        await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"word": "old"})
        await calling(s, second)
        await things.apply("mine", {"mode": "again"})
        await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"word": "new"})


async def test_a_function_is_called_when_its_time_to_live_expires(s):
    """Once: and an equal answer writes nothing."""
    calls = []

    def function(request):
        calls.append(request)
        return desiring(request, one=config_map())._replace(ttl=SECOND)

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", READY)
        writes, call_count = await s.writes(), len(calls)

        async def called_twice_more():
            return len(calls) >= call_count + 2

        await s.eventually(called_twice_more)
        assert await s.writes() == writes, await s.write_counts()


async def test_a_step_gets_the_credentials_that_it_names(s):
    credentials = {}

    def function(request):
        step = request.input["step"]
        credentials[step] = {name: dict(data) for name, data in request.credentials.items()}
        return desiring(request, one=config_map())

    async def scenario(s, address):
        things = await Things.defined(s)
        secret = {"name": "token", "source": "Secret", "secretRef": {"namespace": s.id, "name": "creds"}}
        inputs = [
            {"apiVersion": "example.org/v1", "kind": "In", "step": name} for name in ("with", "without")
        ]
        await things.compose(
            await calling(s, address, "with", input=inputs[0], credentials=[secret]),
            await calling(s, address, "without", input=inputs[1]),
        )
        await things.apply("mine")
        message = 'cannot get Composition pipeline step "with" credential "token" from Secret'
        await things.until("mine", failing(message))
        data = {"password": base64.b64encode(b"hunter2").decode()}
        await s.client.create(SECRET, {"metadata": {"name": "creds", "namespace": s.id}, "data": data})
        await things.until("mine", SYNCED, READY)
        assert credentials == {"with": {"token": {"password": b"hunter2"}}, "without": {}}

    with served(function) as address:
        await scenario(s, address)


async def test_a_composition_may_require_resources_for_its_functions(s):
    """Requirements of the step itself are met before the first call."""
    calls = []

    def function(request):
        words = [match.object["data"]["word"] for match in request.required_resources["words"]]
        calls.append(words)
        return desiring(request, one=config_map(data={"words": " ".join(words)}))

    async def scenario(s, address):
        things = await Things.defined(s)
        for name in ("a", "b"):
            metadata = {"name": name, "namespace": s.id, "labels": {"word": "yes"}}
            await s.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"word": name}})
        selector_spec = {
            "requirementName": "words",
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "namespace": s.id,
            "matchLabels": {"word": "yes"},
        }
        await things.compose(await calling(s, address, requirements={"requiredResources": [selector_spec]}))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert (await things.composed(xr))["one"]["data"] == {"words": "a b"}
        assert all(len(words) == 2 for words in calls)

    with served(function) as address:
        await scenario(s, address)


async def test_a_function_that_is_gone_is_missed_and_comes_back(s):
    with served(lambda request: desiring(request, one=config_map())) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        await s.client.delete(FUNCTION, f"{s.id}-tell")
        await s.until_gone(FUNCTION, f"{s.id}-tell")
        await things.apply("mine", {"mode": "again"})
        await things.until("mine", failing(f"{s.id}-tell"))
        assert set(await things.composed(xr)) == {"one"}
        await calling(s, address)
        await things.until("mine", SYNCED)
