"""The tree below a package: its runtime config, its revisions, and the packages that it depends on.

What depends on what is in the Lock, by revision; the package of a revision is the one that controls it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.resource_tree.composite_tree import DEEPEST, MOST
from crossply.resource_tree.image_reference import package_name
from crossply.resource_tree.node import NOT_FOUND, Node, Reference
from crossply.resource_tree.object_reader import Reader
from crossply.resource_tree.trace_target import TraceError
from crossply.values import Object

_LOCK = Reference("pkg.crossplane.io/v1beta1", "Lock", "lock")
_RUNTIME_CONFIG = Reference("pkg.crossplane.io/v1beta1", "DeploymentRuntimeConfig", "")
_NO_TYPE = (
    "cannot determine dependency type - "
    "you must specify either a valid type, or an explicit apiVersion and kind"
)


class Choice(NamedTuple):
    """What of a package is shown."""

    dependencies: str
    """unique, all or none."""
    revisions: str
    """active, all or none."""
    runtime_configs: bool


class Packages:
    """Loads what is below packages."""

    def __init__(self, reader: Reader, choice: Choice) -> None:
        self._reader = reader
        self._choice = choice
        self._visited: set[str] = set()
        self._locked: list[Object] = []

    async def grow(self, root: Node) -> None:
        """Load all that is below a package, level by level."""
        lock = await self._reader.get(_LOCK)
        if lock.problem:
            raise TraceError(lock.problem.message)
        self._visited = set()
        self._locked = _dicts(lock.object.get("packages"))
        waiting: list[tuple[Node, tuple[Reference, ...]]] = [(root, ())]
        loaded = 0
        while waiting and loaded < MOST:
            package, above = waiting.pop(0)
            loaded += 1
            # Dependencies cannot go in circles, but a Lock that was written by hand may.
            if package.reference not in above and len(above) < DEEPEST:
                below = await self._expand(package)
                waiting += [(child, (*above, package.reference)) for child in below]

    async def _expand(self, package: Node) -> list[Node]:
        name = package.reference.name
        if not package.is_package:
            group_kind = ".".join(part for part in (package.reference.kind, package.group) if part)
            raise TraceError(f"resource {name} is not a package: {group_kind}")
        package.children += await self._runtime_config(package)
        package.children += await self._revisions(package)
        try:
            dependencies = [
                await self._reader.get(dependency) for dependency in await self._dependencies(package)
            ]
        except TraceError as problem:
            raise problem.within(f"failed to get dependencies for package {name}") from None
        package.children += dependencies
        return dependencies

    async def _runtime_config(self, package: Node) -> list[Node]:
        runtime_config_ref = _spec(package).get("runtimeConfigRef")
        if not self._choice.runtime_configs or not isinstance(runtime_config_ref, dict):
            return []
        api_version = runtime_config_ref.get("apiVersion") or _RUNTIME_CONFIG.api_version
        kind = runtime_config_ref.get("kind") or _RUNTIME_CONFIG.kind
        return [await self._reader.get(Reference(api_version, kind, runtime_config_ref.get("name") or ""))]

    async def _revisions(self, package: Node) -> list[Node]:
        if self._choice.revisions == "none":
            return []
        name = package.reference.name
        try:
            revisions = await self._reader.revisions(package.reference)
        except TraceError as problem:
            prefix = f"failed to get revisions for package {name}"
            raise problem.within(
                f"failed to set package revision children for package {name}: {prefix}"
            ) from None
        shown = ("Active", "Inactive") if self._choice.revisions == "all" else ("Active",)
        return [node for node in revisions if _spec(node).get("desiredState") in shown]

    async def _dependencies(self, package: Node) -> list[Reference]:
        status = package.object.get("status")
        current = status.get("currentRevision") if isinstance(status, dict) else None
        locked = next((entry for entry in self._locked if current and entry.get("name") == current), {})
        references = []
        for dependency in _dicts(locked.get("dependencies")) if self._choice.dependencies != "none" else ():
            source = str(dependency.get("package") or "")
            if self._choice.dependencies == "unique" and source in self._visited:
                continue
            try:
                references.append(await self._dependency(dependency, source))
            except TraceError as problem:
                raise problem.within(f"failed to get dependency ref {source}") from None
            self._visited.add(source)
        return references

    async def _dependency(self, dependency: Object, source: str) -> Reference:
        """The package that a dependency became, or would become."""
        api_version, kind = _type_of(dependency)
        locked = next((entry for entry in self._locked if entry.get("source") == source), None)
        name = package_name(source)
        if locked is None:
            return Reference(api_version, kind, name)
        revision = await self._reader.get(
            Reference(api_version, f"{kind}Revision", str(locked.get("name") or ""))
        )
        if revision.problem and revision.problem.sort != NOT_FOUND:
            raise TraceError(revision.problem.message)
        for owner in _dicts(revision.metadata.get("ownerReferences")):
            if owner.get("kind") == kind and owner.get("controller") is True:
                return Reference(api_version, kind, str(owner.get("name") or ""))
        return Reference(api_version, kind, name)


def _type_of(dependency: Object) -> tuple[str, str]:
    if dependency.get("apiVersion") is not None and dependency.get("kind") is not None:
        return str(dependency["apiVersion"]), str(dependency["kind"])
    if dependency.get("type") in ("Configuration", "Provider", "Function"):
        return "pkg.crossplane.io/v1", str(dependency["type"])
    raise TraceError(_NO_TYPE)


def _spec(node: Node) -> Object:
    spec = node.object.get("spec")
    return spec if isinstance(spec, dict) else {}


def _dicts(value: Any) -> list[Object]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
