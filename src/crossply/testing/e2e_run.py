"""Runs E2ETests of `up` in a control plane that is running, one after the other.

The order is that of `up test run --e2e`: initResources, the project, extraResources, manifests, conditions,
then what was applied is deleted. The control plane is not made for the test: the project must be installed in
it, and only what a test created is deleted. A test says what it applies, in which order, and what it waits
for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import monotonic
from typing import NamedTuple

from crossply.compose.object_metadata import metadata_of, name_of, namespace_of, text_in
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.testing.results import BROKEN, FAILED, PASSED, CaseResult, Finding
from crossply.testing.suite_field_reader import Reader
from crossply.testing.upbound_tests import lenient
from crossply.values import Object
from crossply.values.yaml import Document

MANAGER = "crossply-test"
ANNOTATION = "cli.upbound.io/e2etest"
"""What `up` marks the manifests of a test with."""
_PAUSE = 0.5
_DEFINITION = Kind(
    "apiextensions.crossplane.io", "v2", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)
_READY = "Ready"
_SECONDS, _CLEANUP_SECONDS = 600.0, 600.0


class _Applied(NamedTuple):
    kind: Kind
    object: Object
    is_new: bool


class EndToEndRun:
    """One test under way."""

    def __init__(self, client: Client, test: EndToEndTest, definitions: Iterable[str]) -> None:
        """`definitions` are the names of the definitions that the project must have installed."""
        self._client = client
        self._discovery = Discovery(client)
        self._test = test
        self._definitions = tuple(definitions)
        self._applied: list[_Applied] = []
        self._deadline = monotonic() + test.seconds

    async def result(self) -> CaseResult:
        """Run the test, and delete what it created however it ends."""
        started = monotonic()
        findings: list[Finding] = []
        status = PASSED
        try:
            findings += await self._play()
            status = FAILED if findings else PASSED
        except (CrossplyError, KubeError) as problem:
            findings.append(Finding(str(problem), self._test.source, hint=getattr(problem, "hint", "")))
            status = BROKEN
        finally:
            if not self._test.keeps:
                left = await self._clean_up()
                findings += left
                status = FAILED if left and status == PASSED else status
        place = f"{self._test.source}:1"
        return CaseResult(self._test.name, status, place, monotonic() - started, tuple(findings))

    async def _play(self) -> list[Finding]:
        for obj in self._test.init:
            await self._apply(obj)
        missing = [name for name in self._definitions if not await self._is_established(name)]
        if missing:
            hint = (
                "install it: crossply project build, crossply project push, and crossply xpkg install "
                "configuration REPOSITORY:TAG"
            )
            return [
                Finding(f"the project is not installed: {', '.join(missing)}", self._test.source, hint=hint)
            ]
        for obj in self._test.extra:
            await self._apply(obj)
        applied = [await self._apply(_marked(obj)) for obj in self._test.manifests]
        return [finding for item in applied for finding in await self._until_conditions(item)]

    async def _apply(self, obj: Object) -> _Applied:
        kind = await self._kind_of(obj)
        if kind.namespaced and not namespace_of(obj):
            obj = {**obj, "metadata": {**metadata_of(obj), "namespace": self._client.config.namespace}}
        before = await self._client.get(kind, name_of(obj), namespace_of(obj))
        after = await self._client.apply(kind, obj, MANAGER)
        applied = _Applied(kind, after, before is None)
        self._applied.append(applied)
        return applied

    async def _kind_of(self, obj: Object) -> Kind:
        """The kind of an object; one that is not served yet is waited for."""
        while True:
            try:
                return await self._discovery.kind_for(text_in(obj, "apiVersion"), text_in(obj, "kind"))
            except UnknownKind:
                if monotonic() > self._deadline:
                    raise
            self._discovery.doubt()
            await asyncio.sleep(_PAUSE)

    async def _is_established(self, name: str) -> bool:
        definition = await self._client.get(_DEFINITION, name)
        return definition is not None and "Established" in _true_conditions(definition)

    async def _until_conditions(self, applied: _Applied) -> list[Finding]:
        """Wait until an object has all conditions; what it lacks when the time is up."""
        while True:
            obj = await self._client.get(applied.kind, name_of(applied.object), namespace_of(applied.object))
            lacking = [
                name for name in self._test.conditions if obj is None or name not in _true_conditions(obj)
            ]
            if not lacking:
                return []
            if monotonic() > self._deadline:
                return [_lacking(applied, obj, name, self._test) for name in lacking]
            await asyncio.sleep(_PAUSE)

    async def _clean_up(self) -> list[Finding]:
        """Delete what was created, last first, and wait until it is gone; what is left then."""
        deadline = monotonic() + self._test.cleanup_seconds
        findings = []
        for applied in reversed(self._applied):
            if applied.is_new and not await self._is_gone(applied, deadline):
                message = f"{_called(applied)} is not gone after {self._test.cleanup_seconds:g} seconds"
                findings.append(
                    Finding(message, self._test.source, hint="its finalizers say what it waits for")
                )
        return findings

    async def _is_gone(self, applied: _Applied, deadline: float) -> bool:
        name, namespace = name_of(applied.object), namespace_of(applied.object)
        try:
            await self._client.delete(applied.kind, name, namespace)
            while await self._client.get(applied.kind, name, namespace) is not None:
                if monotonic() > deadline:
                    return False
                await asyncio.sleep(_PAUSE)
        except (CrossplyError, KubeError):
            return False
        return True


def _marked(obj: Object) -> Object:
    metadata = metadata_of(obj)
    annotations = {**(metadata.get("annotations") or {}), ANNOTATION: "true"}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def _conditions(obj: Object) -> list[Object]:
    status = obj.get("status")
    listed = status.get("conditions") if isinstance(status, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _true_conditions(obj: Object) -> set[str]:
    return {str(item.get("type")) for item in _conditions(obj) if item.get("status") == "True"}


def _lacking(applied: _Applied, obj: Object | None, name: str, test: EndToEndTest) -> Finding:
    conditions = [item for item in _conditions(obj or {}) if item.get("type") == name]
    actual = (
        ", ".join(str(conditions[0].get(key, "")) for key in ("status", "reason", "message"))
        if conditions
        else "(nothing)"
    )
    message = f"{_called(applied)}: condition {name} after {test.seconds:g} seconds"
    return Finding(message, test.source, "True", actual, hint=f"crossply explain {_address(applied)}")


def _called(applied: _Applied) -> str:
    return f"{applied.kind.kind} {name_of(applied.object)}"


def _address(applied: _Applied) -> str:
    namespace = namespace_of(applied.object)
    where = f" -n {namespace}" if namespace else ""
    return f"{applied.kind.kind.lower()} {name_of(applied.object)}{where}"


class EndToEndTest(NamedTuple):
    """A test that runs in a control plane."""

    name: str
    source: str
    init: tuple[Object, ...]
    """Applied before the project is looked for."""
    extra: tuple[Object, ...]
    """Applied before the manifests; nothing is waited for."""
    manifests: tuple[Object, ...]
    """What is tested: each must get all conditions."""
    conditions: tuple[str, ...]
    """Types of conditions."""
    seconds: float
    cleanup_seconds: float
    keeps: bool
    """Whether all that it applied stays."""


def read_e2e_test(document: Document) -> EndToEndTest:
    """The test in a document; raises SuiteError."""
    root = lenient(document.value, ())
    spec = lenient(root.fields.raw("spec"), ("spec",))
    manifests = _objects(spec, "manifests")
    if not manifests:
        raise spec.fields.wrong("at least one manifest is needed", "manifests")
    return EndToEndTest(
        root.fields.object("metadata").text("name") or "(without a name)",
        document.source,
        _objects(spec, "initResources"),
        _objects(spec, "extraResources"),
        manifests,
        spec.fields.texts("defaultConditions") or (_READY,),
        _seconds(spec, "timeoutSeconds", _SECONDS),
        _seconds(spec, "cleanupTimeoutSeconds", _CLEANUP_SECONDS),
        bool(spec.fields.flag("skipDelete")),
    )


def _objects(spec: Reader, key: str) -> tuple[Object, ...]:
    objects = spec.fields.items(key)
    for index, obj in enumerate(objects):
        if not isinstance(obj, dict) or not obj.get("apiVersion") or not obj.get("kind") or not name_of(obj):
            raise spec.fields.wrong("needs an apiVersion, a kind and a name", f"{key}[{index}]")
    return tuple(objects)


def _seconds(spec: Reader, key: str, otherwise: float) -> float:
    value = spec.fields.raw(key)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise spec.fields.wrong("must be a number of seconds, at least 1", key)
    return float(value)
