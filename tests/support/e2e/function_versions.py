"""Functions with several revisions in a scenario: installed by the address where each version is served."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.compose.function_messages import Function
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.scenario import FUNCTION, Scenario
from tests.support.e2e.things import config_map, desiring

REVISIONS = Kind("pkg.crossplane.io", "v1", "FunctionRevision", "functionrevisions", False)
PACKAGE = "pkg.crossplane.io/package"
NONE_ACTIVE = "cannot find an active FunctionRevision (a FunctionRevision with spec.desiredState: Active)"


def marking_function(author: str) -> Function:
    """A function that writes its own name into a ConfigMap."""
    return lambda request: desiring(request, one=config_map(data={"by": author}))


class Installed:
    """A Function of a scenario."""

    def __init__(self, s: Scenario, name: str = "") -> None:
        self.s = s
        self.name = name or f"{s.id}-function"

    def body(self, address: str, labels: Object | None = None, **spec: Any) -> Object:
        """The Function, in the version that is served at an address."""
        target = {
            "render.crossplane.io/runtime": "Development",
            "render.crossplane.io/runtime-development-target": address,
        }
        return {
            "apiVersion": FUNCTION.api_version,
            "kind": "Function",
            "metadata": {"name": self.name, "annotations": target, "labels": labels or {}},
            "spec": {"package": "example.org/function:v1", **spec},
        }

    async def apply(self, address: str, labels: Object | None = None, **spec: Any) -> Object:
        """Install that version."""
        return await self.s.client.apply(FUNCTION, self.body(address, labels, **spec), "test")

    async def until_observed(self, applied: Object) -> None:
        """Wait until the control plane has observed what was applied."""
        generation = applied["metadata"]["generation"]

        def is_observed(obj: Object) -> bool:
            conditions = (obj.get("status") or {}).get("conditions") or ()
            return any(
                status_condition.get("observedGeneration", 0) >= generation for status_condition in conditions
            )

        await self.s.until(FUNCTION, self.name, is_observed)

    async def revisions(self) -> list[Object]:
        """Its revisions, by their numbers."""
        listed = await self.s.client.list(REVISIONS, label_selector=f"{PACKAGE}={self.name}")
        return sorted(map(orjson.loads, listed.items), key=lambda revision: revision["spec"]["revision"])

    async def states(self) -> list[str]:
        """Whether its revisions are active, by their numbers."""
        return [revision["spec"]["desiredState"] for revision in await self.revisions()]

    async def until_states(self, *states: str) -> list[Object]:
        """Its revisions, once they are so, in the order of their numbers."""

        async def so() -> bool:
            return await self.states() == list(states)

        await self.s.eventually(so)
        return await self.revisions()

    def step(self, **fields: Any) -> Object:
        """A step that calls it."""
        return {"step": "tell", "functionRef": {"name": self.name}, **fields}
