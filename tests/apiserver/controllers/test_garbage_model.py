"""Any graph of owners, deleted in any order: the remaining objects are those of a simple model."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.apiserver.store_bench import owned_by, running

POLICIES = ("", "Background", "Foreground", "Orphan")
_SIZE = 8

graphs = st.lists(
    st.tuples(st.sets(st.integers(0, _SIZE - 1), max_size=3), st.booleans()), min_size=2, max_size=_SIZE
)
deletions = st.lists(st.tuples(st.integers(0, _SIZE - 1), st.sampled_from(POLICIES)), min_size=1, max_size=4)

Graph = dict[str, set[str]]


def expected(graph: Graph, name: str, policy: str) -> Graph:
    """The objects and their owners after one of them is deleted."""
    if name not in graph:
        return graph
    left = {item: set(owners) for item, owners in graph.items() if item != name}
    deleted = {name}
    if policy == "Orphan":
        return {item: owners - deleted for item, owners in left.items()}
    while garbage := {item for item, owners in left.items() if owners and owners <= deleted}:
        deleted |= garbage
        left = {item: owners for item, owners in left.items() if item not in garbage}
    return {item: owners - deleted for item, owners in left.items()}


async def check(graph: list[tuple[set[int], bool]], deleted: list[tuple[int, str]]) -> None:
    async with running() as (client, controllers):
        built = {}
        model: Graph = {}
        for number, (owners, block) in enumerate(graph):
            before = [built[owner] for owner in sorted(owners) if owner < number]
            metadata = owned_by(*before, block=block)
            built[number] = await client.create("widgets", "default", f"w{number}", metadata=metadata)
            model[f"w{number}"] = {owner["metadata"]["name"] for owner in before}
        for number, policy in deleted:
            name = f"w{number}"
            if name in model:
                await client.delete("widgets", "default", name, policy)
                await controllers.settled()
            model = expected(model, name, policy)
            result = {}
            for item in client.names("widgets"):
                obj = client.get("widgets", "default", item)
                assert obj is not None
                result[item] = {ref["name"] for ref in obj["metadata"].get("ownerReferences", ())}
            assert result == model


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs, deletions)
async def test_the_remaining_objects_are_those_of_the_model(
    graph: list[tuple[set[int], bool]], deleted: list[tuple[int, str]]
) -> None:
    await asyncio.wait_for(check(graph, deleted), 20)
