"""Resource graphs of function-kro on a control plane: schemas of the API server, waiting, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.values import Object
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import CREATING, READY, SYNCED, Things, failing, message_of

pytestmark = pytest.mark.xdist_group("e2e")


async def graph(s: Scenario, *resources: Object, **status: str) -> Object:
    """A step that evaluates a resource graph."""
    await s.function("function-kro", "xpkg.crossplane.io/crossplane-contrib/function-kro:v0.3.0")
    resource_graph = {
        "apiVersion": "kro.fn.crossplane.io/v1alpha1",
        "kind": "ResourceGraph",
        "resources": list(resources),
        "status": status,
    }
    return {"step": "kro", "functionRef": {"name": "function-kro"}, "input": resource_graph}


def config(name: str, data: Object, metadata: Object | None = None, **fields: Any) -> Object:
    template = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata or {}, "data": data}
    return {"id": name, "template": template, **fields}


async def test_a_resource_graph_is_composed_in_the_order_of_its_dependencies(s):
    things = await Things.defined(s)
    await s.client.apply(
        CONFIG_MAP,
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "defaults", "namespace": s.id},
            "data": {"mode": "quiet"},
        },
        "test",
    )
    external = {
        "id": "defaults",
        "externalRef": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "defaults"}},
    }
    await things.compose(
        await graph(
            s,
            config(
                "last",
                {"uid": "${first.metadata.uid}", "mode": "${defaults.data.mode}"},
                readyWhen=["${true}"],
            ),
            config(
                "first",
                {"size": "${schema.spec.size}"},
                readyWhen=['${first.data.?ready.orValue("no") == "yes"}'],
            ),
            config(
                "copies",
                {"index": "${string(index)}"},
                {"name": "${schema.metadata.name}-${string(index)}"},
                forEach=[{"index": "${lists.range(schema.spec.count)}"}],
                readyWhen=["${has(each.data)}"],
            ),
            external,
            size="${first.data.size}",
            mode="${last.data.mode}",
            count="${size(copies)}",
        )
    )
    await things.apply("mine", {"size": "3", "count": 2})
    xr = await things.until("mine", SYNCED, CREATING, lambda xr: xr["status"].get("count") == 2)
    composed = await things.composed(xr)
    assert sorted(composed) == ["copies-mine-0", "copies-mine-1", "first"]
    first = composed["first"]
    await s.client.patch_merge(CONFIG_MAP, first["metadata"]["name"], {"data": {"ready": "yes"}}, s.id)
    xr = await things.until("mine", SYNCED, READY, lambda xr: xr["status"].get("mode") == "quiet")
    composed = await things.composed(xr)
    assert composed["last"]["data"] == {"uid": first["metadata"]["uid"], "mode": "quiet"}
    assert (xr["status"]["size"], xr["status"]["count"]) == ("3", 2)
    await things.change("mine", {"spec": {"count": 1}})
    xr = await things.until("mine", SYNCED, READY, lambda xr: xr["status"].get("count") == 1)
    assert sorted(await things.composed(xr)) == ["copies-mine-0", "first", "last"]


async def test_a_resource_graph_is_checked_against_the_schemas_of_the_api_server(s):
    things = await Things.defined(s)
    await things.compose(
        await graph(s, config("first", {"size": "${schema.spec.sise}"}, readyWhen=["${true}"]))
    )
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", failing("undefined field"))
    assert message_of(xr) == (
        'cannot compose resources: pipeline step "kro" returned a fatal result: cannot create resource '
        'graph: failed to validate resource "first": failed to compile template expression '
        '"schema.spec.sise" at path "data.size": ERROR: <input>:1:12: undefined field '
        "'sise'\n | schema.spec.sise\n | ...........^"
    )
    await things.compose(
        await graph(s, config("first", {"size": "${schema.spec.size}"}, readyWhen=["${true}"]))
    )
    await things.until("mine", SYNCED, READY)
