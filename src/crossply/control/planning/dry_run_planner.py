"""What applying some objects would change: the controllers run on a dry-run store.

The objects are applied there, as a user would apply them (or deleted). Then the composite resources that are
concerned are reconciled by the controllers' own code, again and again as changes wake them, until nothing
changes any more (`reconcile_rounds`). The difference between the two worlds is the plan (`change_tree`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from crossply.compose.object_metadata import name_of, namespace_of, text_in
from crossply.control.composites.composition_selection import Compositions
from crossply.control.controller_context import Plane
from crossply.control.definitions.composition_reconciler import CompositionReconciler
from crossply.control.definitions.valid_pipeline_reconciler import mark_all
from crossply.control.kinds import COMPOSITION, DEFINITION, FUNCTION, REVISION
from crossply.control.planning.affected_objects import AffectedObjects
from crossply.control.planning.api_urls import ObjectKey, key_of
from crossply.control.planning.change_tree import DELETE, NONE, Forest, Node
from crossply.control.planning.deletion_order_warnings import add_order_warnings
from crossply.control.planning.dry_run_client import DryRunClient
from crossply.control.planning.governed_kinds import Governed, GovernedKinds, define, is_definition
from crossply.control.planning.immutable_field_refusals import explain_refusals
from crossply.control.planning.kubectl_apply import apply_file
from crossply.control.planning.managed_notes import annotate_external
from crossply.control.planning.node_notes import annotate
from crossply.control.planning.planned_functions import put_planned_revisions
from crossply.control.planning.random_selections import RandomSelections
from crossply.control.planning.reconcile_rounds import CONCURRENCY, Progress, ReconcileRounds
from crossply.control.usages.usage_model import USAGE_KINDS, Usage, read_usage
from crossply.errors import CrossplyError
from crossply.kinds.composition import parse_composition
from crossply.kube.core_kinds import NAMESPACE
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Conflict, KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.api_version import api_group

_INSTANCES = 4
"""The order of all that is neither a namespace nor of our own kinds."""


class PlanRefused(CrossplyError):
    """A plan cannot be made: an object has no name, or there is no control plane."""

    code = "CP-840"


@dataclass(slots=True)
class Plan:
    """What would change: composite resources with all below them, and everything else."""

    others: list[Node] = field(default_factory=list)
    roots: list[Node] = field(default_factory=list)

    def nodes(self) -> list[Node]:
        """Every object."""
        return [node for root in (*self.others, *self.roots) for node in root.walk()]

    @property
    def is_failing(self) -> bool:
        """Whether something would go wrong."""
        return any(node.error for node in self.nodes())

    @property
    def is_changing(self) -> bool:
        """Whether something would change."""
        return any(node.action != NONE for node in self.nodes())


class Planner:
    """Makes one plan."""

    def __init__(
        self, client: DryRunClient, plane: Plane, manager: str, namespace: str, progress: Progress
    ) -> None:
        self._client = client
        self._store = client.store
        self._plane = plane
        self._manager = manager
        self._namespace = namespace
        self._progress = progress
        self._files: dict[ObjectKey, Kind] = {}
        self._refused: list[Node] = []

    async def applying(self, objects: Iterable[Object]) -> Plan:
        """What applying objects would change."""
        self._begin()
        room = asyncio.Semaphore(CONCURRENCY)
        ordered = sorted(objects, key=_order)
        for obj in [obj for obj in ordered if _order(obj) < _INSTANCES]:
            self._take(await self._apply(obj, room))
        instances = [obj for obj in ordered if _order(obj) == _INSTANCES]
        for applied in await asyncio.gather(*(self._apply(obj, room) for obj in instances)):
            self._take(applied)
        return await self._finish()

    async def deleting(self, objects: Iterable[Object]) -> Plan:
        """What deleting objects would take away."""
        self._begin()
        await self._kinds.load()
        for obj in sorted(objects, key=_order, reverse=True):
            kind, obj = await self._located(obj)
            try:
                await self._delete(kind, obj)
            except (KubeError, Conflict) as problem:
                key = key_of(kind, name_of(obj), namespace_of(obj))
                self._take(_refused(key, obj, problem))
        return await self._finish()

    async def _delete(self, kind: Kind, obj: Object) -> None:
        if is_definition(kind.group, kind.plural):
            for governed in self._kinds.defined_by(name_of(obj)):
                await self._affected.undefine(governed)
        await self._client.delete(kind, name_of(obj), namespace_of(obj))

    def _begin(self) -> None:
        caches = self._plane.informers
        compositions, revisions = caches.acquire(COMPOSITION), caches.acquire(REVISION)
        self._kinds = GovernedKinds(self._plane, Compositions(compositions, revisions))
        self._forest = Forest(self._plane, self._store, self._kinds, CONCURRENCY)
        self._affected = AffectedObjects(self._plane, self._store, self._kinds)
        self._rounds = ReconcileRounds(self._plane, self._store, self._kinds, self._progress)
        self._synced = (compositions.synced, revisions.synced)

    def _take(self, applied: Node | tuple[ObjectKey, Kind]) -> None:
        """Note an object that was applied, or one that was refused."""
        if isinstance(applied, Node):
            self._forest.visited.add(applied.key)
            self._refused.append(applied)
        else:
            self._files[applied[0]] = applied[1]

    async def _apply(self, obj: Object, room: asyncio.Semaphore) -> Node | tuple[ObjectKey, Kind]:
        async with room:
            return await self._applied(obj)

    async def _applied(self, obj: Object) -> Node | tuple[ObjectKey, Kind]:
        try:
            kind, obj = await self._located(obj)
        except UnknownKind as problem:
            key = ObjectKey(text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj))
            return Node(key, obj, NONE, error=str(problem), hint=problem.hint)
        key = key_of(kind, name_of(obj), namespace_of(obj))
        try:
            written = await apply_file(self._client, kind, obj, self._manager)
            await self._reconcile_dependents(kind, written)
        except (CrossplyError, Conflict) as problem:
            return _refused(key, obj, problem)
        return key, kind

    async def _located(self, obj: Object) -> tuple[Kind, Object]:
        """The object's kind, and the object in its namespace."""
        kind = await self._plane.discovery.kind_for(text_in(obj, "apiVersion"), text_in(obj, "kind"))
        if not name_of(obj):
            raise PlanRefused(
                f"a {kind.kind} has no name",
                hint="set metadata.name: a plan shows the changes of one object",
            )
        if not kind.namespaced or namespace_of(obj):
            return kind, obj
        return kind, {**obj, "metadata": {**obj["metadata"], "namespace": self._namespace}}

    async def _reconcile_dependents(self, kind: Kind, written: Object) -> None:
        """What the controllers of our own kinds make of an object that is not composed."""
        if kind.resource == COMPOSITION.resource:
            parse_composition(written)
            await CompositionReconciler(self._plane).reconcile(name_of(written))
            await mark_all(self._plane, name_of(written))
        elif is_definition(kind.group, kind.plural):
            await define(self._client, kind.plural, name_of(written))
            await self._plane.discovery.refresh()

    async def _finish(self) -> Plan:
        await self._rounds.guarded(asyncio.gather(*(synced.wait() for synced in self._synced)))
        await self._store.quiet()
        await put_planned_revisions(self._client, self._plane.functions)
        await self._kinds.load()
        await self._affected.find()
        for node in self._affected.refused:
            self._take(node)
        await self._rounds.settle(self._affected.due)
        return await self._compared()

    async def _compared(self) -> Plan:
        plan = Plan()
        affected = self._affected
        touched = dict.fromkeys((*affected.due, *self._store.written(), *affected.blocked))
        roots = dict.fromkeys(self._root(key, touched) for key in touched if self._kinds.at(key) is not None)
        for key in sorted(roots):
            governed = self._kinds.at(key)
            node = await self._tree(key, governed) if governed is not None else None
            if node is not None:
                plan.roots.append(node)
        plan.others += self._refused
        for key, kind in self._files.items():
            node = await self._forest.tree(key, kind)
            if node is not None:
                plan.others.append(node)
        plan.others += await self._forest.rest()
        selections = await RandomSelections.among(self._client, self._store)
        for node in plan.nodes():
            governed = self._kinds.at(node.key)
            annotate(node, governed, self._rounds, self._store, self._affected.blocked)
            if governed is not None and not governed.is_claim and not node.error:
                node.notes += filter(None, [selections.note(node.key, governed)])
        await self._explain_managed(plan)
        return plan

    async def _explain_managed(self, plan: Plan) -> None:
        """What becomes of things outside, and what the API server would not let change."""
        nodes = plan.nodes()
        await explain_refusals(self._plane, self._store, nodes)
        for node in nodes:
            annotate_external(node)
        if any(node.action == DELETE for node in nodes):
            add_order_warnings((*plan.roots, *plan.others), await self._usages())

    async def _usages(self) -> list[Usage]:
        usages = []
        for kind in USAGE_KINDS:
            try:
                listed = await self._client.list(kind)
            except KubeError:
                continue  # one who may not read them is warned once too often
            usages += [read_usage(kind, orjson.loads(data)) for data in listed.items]
        return usages

    async def _tree(self, key: ObjectKey, governed: Governed) -> Node | None:
        if key in self._affected.blocked:
            return await self._forest.leaf(key, governed)
        return await self._forest.tree(key, governed.kind)

    def _root(self, key: ObjectKey, touched: Iterable[ObjectKey]) -> ObjectKey:
        """The topmost composite resource or claim that is concerned, too."""
        for _ in range(100):
            known = self._store.known(key)
            obj = (known.now or known.before) if known is not None else None
            above = self._rounds.above(key, obj) if obj is not None else None
            if above is None or above not in touched:
                return key
            key = above
        return key

    @property
    def forest(self) -> Forest:
        """The trees of the plan, and the words for what is not known."""
        return self._forest


def _refused(key: ObjectKey, obj: Object, problem: CrossplyError | Conflict) -> Node:
    hint = "" if isinstance(problem, Conflict) else problem.hint
    return Node(key, obj, NONE, error=str(problem), hint=hint)


def _order(obj: Object) -> int:
    """Namespaces and definitions first, composite resources last, whatever the order of the files."""
    group = api_group(text_in(obj, "apiVersion"))
    if group == DEFINITION.group:
        return 3 if text_in(obj, "kind") == COMPOSITION.kind else 1
    if group == FUNCTION.group:
        return 2
    return 0 if text_in(obj, "kind") == NAMESPACE.kind else _INSTANCES
