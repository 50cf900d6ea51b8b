"""Extra resources (seeds/4, reference: reconcile §6): what functions ask for, get, and may not have."""

from __future__ import annotations

import asyncio
import threading

import pytest

from crossply.compose.function_messages import Requirements, ResourceSelector, Response
from crossply.kube.client import Client
from crossply.kube.config import load_config
from tests.support.api_servers import embedded
from tests.support.control_plane import running
from tests.support.e2e.pipelines import EXTRA_RESOURCES, builtin, calling, served
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import READY, SYNCED, Things, config_map, desiring, failing
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("e2e")

FIELDS = ("resources", "extra_resources")


def selector(namespace, **match):
    """Some ConfigMaps of a namespace."""
    return ResourceSelector("v1", "ConfigMap", namespace=namespace, **match)


def requiring(answer, field, **selectors):
    """A response that requires more."""
    return answer._replace(requirements=Requirements(**{field: selectors}))


def home_of(request):
    """The XR's namespace."""
    return request.observed.composite.object["metadata"]["namespace"]


async def data(s, name, text, **labels):
    """Something to ask for."""
    metadata = {"name": name, "namespace": s.id, "labels": labels}
    await s.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"text": text}})


@pytest.mark.parametrize("field", FIELDS)
async def test_a_function_is_called_with_the_resources_it_requires(s, field):
    """By name or by labels, in the field that it used; what is not found is an empty list."""
    calls = []

    def function(request):
        required = request.required_resources if field == "resources" else request.extra_resources
        calls.append(
            {name: [match.object["data"]["text"] for match in matches] for name, matches in required.items()}
        )
        home = home_of(request)
        return requiring(
            desiring(request, one=config_map(data={"found": str(sorted(calls[-1].items()))})),
            field,
            named=selector(home, match_name="a"),
            labelled=selector(home, match_labels={"kind-of": "text"}),
            missing=selector(home, match_name="none"),
        )

    async def scenario(s, address):
        await data(s, "a", "A")
        for name in ("c", "b"):
            await data(s, name, name.upper(), **{"kind-of": "text"})
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        all_texts = [("labelled", ["B", "C"]), ("missing", []), ("named", ["A"])]
        assert (await things.composed(xr))["one"]["data"] == {"found": str(all_texts)}
        assert calls[0] == {}

    with served(function) as address:
        await scenario(s, address)


async def test_the_requirements_of_the_last_run_are_there_from_the_start(s):
    """So a settled XR needs one call of a function, not two."""
    calls = []

    def function(request):
        calls.append(dict(request.required_resources))
        answer = desiring(request, one=config_map(data={"size": str(len(request.required_resources))}))
        return requiring(answer, "resources", named=selector(home_of(request), match_name="a"))

    with served(function) as address:
        await data(s, "a", "A")
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", SYNCED, READY)
        calls.clear()
        await things.apply("mine", {"mode": "again"})
        await s.eventually(lambda: _of(len(calls) >= 1))
        assert all("named" in call for call in calls)


async def _of(value):
    return value


async def test_a_function_may_ask_step_by_step(s):
    """Each call has the requirements of the one before; the same requirements twice end the loop."""

    def function(request):
        home = home_of(request)
        requirements = {"first": selector(home, match_name="a")}
        first = request.required_resources.get("first", ())
        if first:
            requirements["second"] = selector(home, match_name=first[0].object["data"]["text"])
        second = request.required_resources.get("second", ())
        text = second[0].object["data"]["text"] if second else "nothing yet"
        return requiring(desiring(request, one=config_map(data={"text": text})), "resources", **requirements)

    with served(function) as address:
        await data(s, "a", "b")
        await data(s, "b", "end of the chain")
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert (await things.composed(xr))["one"]["data"] == {"text": "end of the chain"}


async def test_only_the_requiring_step_gets_the_resources(s):
    observed = {}

    def function(request):
        observed[request.input["step"]] = sorted(request.required_resources)
        if request.input["step"] == "first":
            return requiring(
                Response(request.desired), "resources", a=selector(home_of(request), match_name="a")
            )
        return desiring(request, one=config_map())

    with served(function) as address:
        await data(s, "a", "A")
        things = await Things.defined(s)
        inputs = [{"apiVersion": "x/v1", "kind": "In", "step": step} for step in ("first", "second")]
        first = await calling(s, address, "first", input=inputs[0])
        await things.compose(first, await calling(s, address, "second", input=inputs[1]))
        await things.apply("mine")
        await things.until("mine", SYNCED, READY)
        assert observed == {"first": ["a"], "second": []}


async def test_a_composition_limits_the_calls_of_a_function(s):
    calls = []

    def function(request):
        calls.append(1)
        name = f"unlikely-{len(calls)}"
        return requiring(
            Response(request.desired), "resources", a=selector(home_of(request), match_name=name)
        )

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address, maxIterations=2))
        await things.apply("mine")
        message = "requirements didn't stabilize after the maximum number of iterations (2)"
        await things.until("mine", failing(message))


async def test_a_function_is_not_called_for_a_deleted_composite_resource(s):
    calls, called, released = [], threading.Event(), threading.Event()

    def function(request):
        calls.append(1)
        called.set()
        released.wait(60)
        return requiring(
            Response(request.desired),
            "resources",
            a=selector(home_of(request), match_name=f"unlikely-{len(calls)}"),
        )

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address, maxIterations=-1))
        await things.apply("mine")
        await asyncio.to_thread(called.wait, 60)
        await s.client.delete(things.kind, "mine", s.id)
        await asyncio.sleep(1)  # the watch notifies the controllers
        released.set()
        await s.until_gone(things.kind, "mine")
        await asyncio.sleep(0.5)
        assert len(calls) == 1


async def test_a_composition_limits_the_requirements_of_a_function(s):
    def function(request):
        name = request.observed.composite.object["spec"]["mode"]
        config_maps = request.required_resources.get("a", ())
        text = config_maps[0].object["data"]["text"] if config_maps else ""
        answer = desiring(request, one=config_map(data={"text": text}))
        return requiring(answer, "resources", a=selector(home_of(request), match_name=name))

    with served(function) as address:
        await data(s, "public-a", "open")
        await data(s, "private-a", "secret")
        things = await Things.defined(s)
        rule = {"apiVersion": "v1", "kind": "ConfigMap", "name": "public-.*"}
        await things.compose(await calling(s, address, allowedExtraResources=[rule]))
        await things.apply("good", {"mode": "public-a"})
        xr = await things.until("good", SYNCED, READY)
        assert (await things.composed(xr))["one"]["data"] == {"text": "open"}
        await things.apply("bad", {"mode": "private-a"})
        message = 'step "tell" does not allow its function to ask for ConfigMap (v1) as "a"'
        xr = await things.until("bad", failing(message))
        assert await things.composed(xr) == {}


async def test_the_built_in_function_puts_them_into_the_context(s):
    """As in the design: function-extra-resources reads, the next step uses."""

    def function(request):
        [text_object] = request.context["apiextensions.crossplane.io/extra-resources"]["texts"]
        return desiring(request, one=config_map(data={"text": text_object["data"]["text"]}))

    with served(function) as address:
        await data(s, "a", "A", **{"kind-of": "text"})
        things = await Things.defined(s)
        labels = [{"type": "Value", "key": "kind-of", "value": "text"}]
        step_input = {
            "apiVersion": "extra-resources.fn.crossplane.io/v1beta1",
            "kind": "Input",
            "spec": {
                "extraResources": [
                    {
                        "kind": "ConfigMap",
                        "apiVersion": "v1",
                        "into": "texts",
                        "type": "Selector",
                        "selector": {"maxMatch": 5, "minMatch": 1, "matchLabels": labels},
                        "namespace": s.id,
                    }
                ]
            },
        }
        await things.compose(await builtin(s, EXTRA_RESOURCES, input=step_input), await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        assert (await things.composed(xr))["one"]["data"] == {"text": "A"}
        await s.client.patch_merge(CONFIG_MAP, "a", {"data": {"text": "B"}}, s.id)
        name = things.references(xr)[0]["name"]
        await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"text": "B"})


OFF = "--enable-composition-functions-extra-resources=false"


@pytest.fixture(params=["up", "controller"])
def without_extra_resources(request, tmp_path):
    """How to reach a control plane that gives functions no resources."""
    if request.param == "up":
        with running(tmp_path, "up", "--in-memory", "--data", str(tmp_path), OFF):
            yield load_config(str(tmp_path / "kubeconfig"))
        return
    alone = ("--shards=0", "--metrics-port=0", "--health-probe-port=0", "--enable-webhooks=false")
    with (
        embedded(tmp_path) as server,
        running(tmp_path, "controller", "--kubeconfig", server.kubeconfig, *alone, OFF),
    ):
        yield load_config(server.kubeconfig)


@pytest.mark.embedded_only("it is about a flag")
async def test_where_extra_resources_are_disabled_a_requiring_function_fails_its_step(
    without_extra_resources,
):
    """Seed 4, Q6: cluster operators can disable them. What was composed before stays."""
    offered = []

    def function(request):
        offered.append(2 in request.capabilities)
        asks = request.observed.composite.object["spec"].get("mode") == "ask"
        if not asks:
            return desiring(request, one=config_map(data={"text": "kept"}))
        return requiring(Response(), "resources", a=selector(home_of(request), match_name="a"))

    async def scenario(s, address):
        await data(s, "a", "A")
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, READY)
        await things.apply("mine", {"mode": "ask"})
        message = 'pipeline step "tell": the function asks for extra resources, which are disabled'
        await things.until("mine", failing(message))
        assert (await things.composed(xr))["one"]["data"] == {"text": "kept"}
        assert not any(offered), "a function can know it before it asks"

    with served(function) as address:
        async with Client(without_extra_resources) as client, asyncio.timeout(2 * PATIENCE):
            await scenario(await Scenario.begin(client, "without"), address)
