"""Plans in a scenario: by the real command, compared with what really happens."""

from __future__ import annotations

import asyncio
import json
import pathlib
import subprocess
import sys
import time
from functools import partial
from typing import Any, NamedTuple

import orjson

from crossply.control.planning.field_changes import Field, Unknown, fields_between
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.differences import MISSING
from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, DEFINITION, EVENT, SECRET, Scenario
from tests.support.e2e.things import RESOURCE_NAME, REVISION, Things
from tests.support.patience import PATIENCE

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
_UNPLANNED_KINDS = ("CompositeResourceDefinition", "CustomResourceDefinition", "ClusterRole")
MANAGER = "test"
"""The field manager by which scenarios apply."""


class Planned(NamedTuple):
    """What the command printed, and its exit code."""

    code: int
    text: str
    stderr: str

    @property
    def document(self) -> Object:
        """The plan of `-o json`."""
        document: Object = json.loads(self.text)
        return document

    def nodes(self) -> list[Object]:
        """Every object of the plan."""
        return [
            node for root in (*self.document["others"], *self.document["composites"]) for node in walk(root)
        ]

    def actions(self) -> dict[str, str]:
        """What becomes of each resource, by its name in the pipeline or its own."""
        return {node.get("resource") or node["name"]: node["action"] for node in self.nodes()}


def walk(node: Object) -> list[Object]:
    """A node and all below it."""
    return [node, *(descendant for child in node.get("children", ()) for descendant in walk(child))]


def node_of(planned: Planned, kind: str, name: str = "") -> Object:
    """The only object of a kind in a plan, or the one that has this name, here or in the pipeline."""
    [node] = [
        node
        for node in planned.nodes()
        if node["kind"] == kind and name in (node.get("resource"), node["name"], "")
    ]
    return node


class Plans:
    """The command `crossply plan` for one scenario."""

    def __init__(self, s: Scenario, directory: pathlib.Path) -> None:
        self.s = s
        self._directory = directory
        self._discovery = Discovery(s.client)

    async def run(self, *words: str, stdin: str = "") -> Planned:
        """Call the command with these words."""
        kubeconfig = self._directory / "kubeconfig"
        if not kubeconfig.exists():
            kubeconfig.write_text(json.dumps(await kubeconfig_for(self.s.client.config)))
        command = [CROSSPLY, "plan", "--kubeconfig", str(kubeconfig), *words]
        done = await asyncio.to_thread(
            subprocess.run, command, input=stdin, capture_output=True, text=True, timeout=PATIENCE
        )
        return Planned(done.returncode, done.stdout, done.stderr)

    async def of(self, *objects: Object, words: tuple[str, ...] = ("-o", "json")) -> Planned:
        """The plan of applying objects as scenarios apply them."""
        return await self.run("-f", "-", "--field-manager", MANAGER, *words, stdin=_stream(objects))

    async def apply(self, *objects: Object) -> None:
        """Do what was planned."""
        for obj in objects:
            kind = await self.s.eventually(partial(self._kind, obj))
            await self.s.client.apply(kind, obj, MANAGER)

    async def _kind(self, obj: Object) -> Kind | None:
        try:
            return await self._discovery.kind_for(obj["apiVersion"], obj["kind"])
        except UnknownKind:
            return None

    async def plan_and_apply(self, *objects: Object) -> Planned:
        """Plan, apply, and wait until exactly what was planned has happened.

        What the API server and other controllers do with definitions and their CRDs is not planned.
        """
        plan = await self.of(*objects)
        assert plan.code in (0, 3), plan.text + plan.stderr
        nodes = [node for node in plan.nodes() if node["kind"] not in _UNPLANNED_KINDS]
        before = [await self._find(node) for node in nodes]
        await self.apply(*objects)
        end = time.monotonic() + PATIENCE
        while wrong := await self._differences(nodes, before):
            assert time.monotonic() < end, f"planned and not so: {wrong}"
            await asyncio.sleep(0.1)
        second_plan = await self.of(*objects)
        assert second_plan.code == 0, f"not all was planned: {second_plan.text}"
        return plan

    async def _differences(self, nodes: list[Object], before: list[Object | None]) -> list[Any]:
        now = [await self._find(node) for node in nodes]
        unknown = _unknown(nodes, before, now)
        wrong: list[Any] = []
        for node, old, new in zip(nodes, before, now, strict=True):
            if (node["action"] == "delete") != (new is None):
                wrong.append((node["action"], node["kind"], node["name"], new))
                continue
            happened = [_as_planned(unknown.field(field)) for field in fields_between(old, new)]
            if happened != node.get("fields", []):
                wrong.append((node["kind"], node["name"], happened, node.get("fields")))
        return wrong

    async def _find(self, node: Object) -> Object | None:
        kind = await self._kind(node)
        if kind is None:
            return None
        namespace = node.get("namespace", "")
        if "(generated)" not in node["name"]:
            return await self.s.client.get(kind, node["name"], namespace)
        prefix = node["name"].partition("(")[0]
        for data in (await self.s.client.list(kind, namespace)).items:
            obj: Object = orjson.loads(data)
            resource = (obj["metadata"].get("annotations") or {}).get(RESOURCE_NAME, "")
            if obj["metadata"]["name"].startswith(prefix) and resource == node.get("resource", ""):
                return obj
        return None

    async def versions(self, *things: Things) -> dict[str, str]:
        """The resource versions of all objects of this scenario, and the number of events."""
        kinds = [
            COMPOSITION,
            REVISION,
            DEFINITION,
            CONFIG_MAP,
            SECRET,
            *(kind_things.kind for kind_things in things),
        ]
        objects = {}
        for kind in kinds:
            for data in (await self.s.client.list(kind, self.s.id if kind.namespaced else "")).items:
                metadata = orjson.loads(data)["metadata"]
                if self.s.id in f"{metadata['name']} {metadata.get('namespace', '')}":
                    objects[f"{kind.kind} {metadata['name']}"] = metadata["resourceVersion"]
        objects["events"] = str(len((await self.s.client.list(EVENT, self.s.id)).items))
        return objects


def _unknown(nodes: list[Object], before: list[Object | None], now: list[Object | None]) -> Unknown:
    """The placeholders of a plan for unknown values, by their later values."""
    unknown = Unknown()
    created = [(node, new) for node, old, new in zip(nodes, before, now, strict=True) if old is None and new]
    for node, new in created:
        unknown.note(new)
        if "(generated)" in node["name"]:
            unknown.note_name(new, new["metadata"].get("generateName") or node["name"].partition("(")[0])
    return unknown


def _as_planned(field: Field) -> Object:
    values = {"before": field.before, "after": field.after}
    document = {"path": field.path, **{key: value for key, value in values.items() if value is not MISSING}}
    return {**document, "secret": True} if field.secret else document


def _stream(objects: tuple[Object, ...]) -> str:
    return "".join(f"---\n{json.dumps(obj)}\n" for obj in objects)
