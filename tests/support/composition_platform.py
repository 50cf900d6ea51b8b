"""A small platform to compose with: one kind, functions that are plain Python, and a set of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crossply.compose.engine_field_paths import MODERN, Machinery
from crossply.compose.function_messages import (
    READY_TRUE,
    Function,
    Request,
    Resource,
    Response,
    State,
    respond,
)
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.prepared_composition import prepare
from crossply.kinds.composition import Composition, Step, TypeRef
from crossply.values import Object


class Platform:
    """Renders with functions by name, and counts their calls."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.calls: list[tuple[str, Request]] = []
        self.world: list[Object] = []
        self.secrets: list[Object] = []
        self.schemas: list[Object] = []
        self.machinery: Machinery = MODERN
        self.rendering: Rendering | None = None

    def step(self, name: str, function: Function, **fields: Any) -> Step:
        self.functions[name] = function
        return Step(name, name, **fields)

    def render(
        self,
        steps: Iterable[Step],
        xr: Object | None = None,
        observed: Iterable[Object] = (),
        context: Object | None = None,
    ) -> Rendered:
        composition = Composition(
            "comp", {}, {}, TypeRef("example.org/v1", "XBucket"), tuple(steps), None, "Pipeline"
        )
        world = InMemoryCluster(self.world, self.secrets, self.schemas)
        self.rendering = Rendering(self.machinery, world, self._call)
        return self.rendering.run(xr or make_xr(), prepare(composition), list(observed), context or {})

    def _call(self, step: Step, request: Request) -> Response:
        self.calls.append((step.name, request))
        return self.functions[step.function](request)


def make_xr(**metadata: Any) -> Object:
    return {
        "apiVersion": "example.org/v1",
        "kind": "XBucket",
        "metadata": {"name": "my-xr", "namespace": "default", **metadata},
        "spec": {"size": 3},
    }


def desires(**objects: Object) -> Function:
    """A function that adds these objects, ready, to what is desired already."""

    def run(request: Request) -> Response:
        added = {name: Resource(obj, ready=READY_TRUE) for name, obj in objects.items()}
        resources = {**request.desired.resources, **added}
        return respond(request, desired=State(request.desired.composite, resources))

    return run


def config_map(**metadata: Any) -> Object:
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap"}
    if metadata:
        obj["metadata"] = metadata
    return obj


Functions = Callable[[Request], Response]
