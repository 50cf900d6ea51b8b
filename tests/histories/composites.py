"""Composite resources that are edited, replaced, damaged and recomposed while faults happen."""

from __future__ import annotations

import asyncio
import copy
import pathlib
import random
from collections import Counter
from typing import Any

from crossply.values.yaml import read_stream
from tests.histories.connection import Answer, Connection, NoAnswer, NotSent

MANIFESTS = pathlib.Path(__file__).with_name("composites.yaml")
NAMESPACE = "stacks"
OWNER = "crossplane.io/composite"
RESOURCE_NAME = "crossplane.io/composition-resource-name"
STACKS = f"/apis/soak.example.org/v1/namespaces/{NAMESPACE}/stacks"
PARTS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
_COMPOSITION = "/apis/apiextensions.crossplane.io/v1/compositions/stacks"
_PATHS = {
    "Function": "/apis/pkg.crossplane.io/v1/functions",
    "CompositeResourceDefinition": "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions",
    "Composition": "/apis/apiextensions.crossplane.io/v1/compositions",
}
_APPLY = "application/apply-patch+yaml"
_OFTEN = {"edit": 60, "replace": 12, "damage": 15, "take away": 15, "recompose": 3}
_PAUSE = 0.3
_RETRY_SECONDS = 0.3

Object = dict[str, Any]


class Composites:
    """The composite resources that should exist, and what is done to them until it is acknowledged."""

    def __init__(self, connection: Connection, seed: str, count: int) -> None:
        self.done: Counter[str] = Counter()
        self.function, definition, self.composition = (
            document.value for document in read_stream(MANIFESTS.read_bytes())
        )
        self.alive = {f"stack-{number}": "small" for number in range(count)}
        """The desired size by name."""
        self._setup = (self.function, definition, self.composition)
        self._next = count
        self._chance = random.Random(seed)
        self._connection = connection

    async def begin(self) -> None:
        """Define the kind and create the first ones."""
        for obj in self._setup:
            await self._apply(f"{_PATHS[obj['kind']]}/{obj['metadata']['name']}", obj)
        while (await self._until_answered("GET", STACKS)).status != 200:
            await asyncio.sleep(_RETRY_SECONDS)
        for name in self.alive:
            await self._apply_stack(name)

    async def run(self, stop: asyncio.Event) -> None:
        """Disturb them until stopped."""
        deeds = {
            "edit": self._edit,
            "replace": self._replace,
            "damage": self._damage,
            "take away": self._take_away,
            "recompose": self._recompose,
        }
        while not stop.is_set():
            name = self._chance.choices(list(_OFTEN), list(_OFTEN.values()))[0]
            await deeds[name]()
            self.done[name] += 1
            await asyncio.sleep(self._chance.uniform(0, 2 * _PAUSE))

    async def remove_all(self) -> None:
        """Delete every composite resource."""
        for name in self.alive:
            await self._until_answered("DELETE", f"{STACKS}/{name}")
        self.alive = {}

    async def list(self, path: str) -> tuple[list[Object], str]:
        """The objects below a path, and the resourceVersion of the list."""
        while (answer := await self._until_answered("GET", path)).status != 200:
            await asyncio.sleep(_RETRY_SECONDS)
        return answer.body["items"], answer.body["metadata"]["resourceVersion"]

    async def _edit(self) -> None:
        name = self._chance.choice(list(self.alive))
        self.alive[name] = f"size-{self._chance.random()}"
        await self._apply_stack(name)

    async def _replace(self) -> None:
        name = self._chance.choice(list(self.alive))
        await self._until_answered("DELETE", f"{STACKS}/{name}")
        del self.alive[name]
        replacement = f"stack-{self._next}"
        self._next += 1
        self.alive[replacement] = "small"
        await self._apply_stack(replacement)

    async def _damage(self) -> None:
        part = await self._some_part()
        if part is not None:
            damage = {"data": {"size": "damaged", "part": None}}
            await self._until_answered("PATCH", part, damage, "application/merge-patch+json")

    async def _take_away(self) -> None:
        part = await self._some_part()
        if part is not None:
            await self._until_answered("DELETE", part)

    async def _recompose(self) -> None:
        """The same parts with another label, and one more that comes and goes."""
        composition = copy.deepcopy(self._setup[2])
        resources = composition["spec"]["pipeline"][0]["input"]["resources"]
        if self._chance.random() < 0.5:
            resources.append({**copy.deepcopy(resources[0]), "name": "extra"})
        for resource in resources:
            resource["base"]["metadata"] = {"labels": {"round": str(self.done["recompose"])}}
        self.composition = composition
        await self._apply(_COMPOSITION, composition)

    async def _some_part(self) -> str | None:
        name = self._chance.choice(list(self.alive))
        parts, _ = await self.list(f"{PARTS}?labelSelector={OWNER}%3D{name}")
        return f"{PARTS}/{self._chance.choice(parts)['metadata']['name']}" if parts else None

    async def _apply_stack(self, name: str) -> None:
        metadata = {"name": name, "namespace": NAMESPACE}
        spec = {"size": self.alive[name]}
        stack = {"apiVersion": "soak.example.org/v1", "kind": "Stack", "metadata": metadata, "spec": spec}
        await self._apply(f"{STACKS}/{name}", stack)

    async def _apply(self, path: str, obj: Object) -> None:
        while (
            await self._until_answered("PATCH", f"{path}?fieldManager=soak&force=true", obj, _APPLY)
        ).status not in (200, 201):
            await asyncio.sleep(_RETRY_SECONDS)

    async def _until_answered(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> Answer:
        """Repeat a request until the server answers it and has room for it."""
        while True:
            try:
                answer = await self._connection.call(method, path, body, content_type)
            except (NoAnswer, NotSent):
                pass
            else:
                if answer.status < 500 and answer.status != 429:
                    return answer
            await asyncio.sleep(_RETRY_SECONDS)
