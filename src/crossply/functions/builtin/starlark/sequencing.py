"""What waits for what: resources that are created later, and Usages that order their deletion."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crossply.functions.builtin.starlark.desired_resources import Dependency, Pending
from crossply.functions.builtin.starlark.resource_labels import RESOURCE_NAME
from crossply.values import Object
from crossply.values.goquote import quote

_LEGACY = "v1"
_LEGACY_VERSION = "apiextensions.crossplane.io/v1beta1"
_VERSION = "protection.crossplane.io/v1beta1"


class DependencyProblem(Exception):
    """Resources depend on something that is not there, or on each other."""


class Usage(NamedTuple):
    """A Usage and its name among the desired resources."""

    name: str
    body: Object


def check_dependencies(dependencies: list[Dependency], names: Iterable[str]) -> None:
    """Refuse references to resources that the script does not desire, and cycles."""
    available = sorted(names)
    for dependency in dependencies:
        if dependency.is_reference and dependency.needed not in available:
            raise DependencyProblem(
                f"Resource({quote(dependency.dependent)}): depends_on references {quote(dependency.needed)} "
                f"which was not created by this script; available resources: [{', '.join(available)}]"
            )
    cycle = _cycle(dependencies)
    if cycle:
        raise DependencyProblem(f"circular dependency detected: {' -> '.join(cycle)}")


def _cycle(dependencies: list[Dependency]) -> list[str]:
    """The names of resources that depend on each other in a circle; empty if none do."""
    needed: dict[str, list[str]] = {}
    for dependency in dependencies:
        needed.setdefault(dependency.dependent, []).append(dependency.needed)
    done: set[str] = set()
    for start in sorted({name for one in dependencies for name in (one.dependent, one.needed)}):
        path: list[str] = []
        pending = [(start, iter((start,)))] if start not in done else []
        while pending:
            _, names = pending[-1]
            name = next(names, None)
            if name is None:
                pending.pop()
                if path:
                    done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name not in done:
                path.append(name)
                pending.append((name, iter(needed.get(name, ()))))
    return []


def unmatched(dependencies: list[Dependency], names: Iterable[str]) -> list[str]:
    """Warnings about strings that name no resource of the script."""
    available = sorted(names)
    return [
        f"depends_on: {quote(one.needed)} (string ref in Resource({quote(one.dependent)})) does not match "
        f"any resource created by this script; available resources: [{', '.join(available)}]"
        for one in dependencies
        if not one.is_reference and one.needed not in available
    ]


def deferred(dependencies: list[Dependency], observed: Mapping[str, Object]) -> list[Pending]:
    """The resources that have to wait, by name, and what each waits for. What exists does not wait."""
    reasons: dict[str, list[str]] = {}
    for dependency in dependencies:
        reasons.setdefault(dependency.dependent, []).extend(_unmet(dependency, observed))
    return [
        Pending(name, "; ".join(reasons[name]))
        for name in sorted(reasons)
        if reasons[name] and name not in observed
    ]


def _unmet(dependency: Dependency, observed: Mapping[str, Object]) -> list[str]:
    needed = quote(dependency.needed)
    obj = observed.get(dependency.needed)
    if obj is None:
        return [f"{needed} to be observed"]
    if dependency.field:
        return (
            []
            if _is_set(obj, dependency.field)
            else [f"{needed} field {quote(dependency.field)} to be ready"]
        )
    return [f"{needed} to have {kind}=True" for kind in ("Ready", "Synced") if not _has_condition(obj, kind)]


def _is_set(obj: Object, path: str) -> bool:
    value: Any = obj
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return bool(value) or isinstance(value, dict | list)


def _has_condition(obj: Object, kind: str) -> bool:
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return isinstance(conditions, list) and any(
        isinstance(condition, dict) and condition.get("type") == kind and condition.get("status") == "True"
        for condition in conditions
    )


def usages(dependencies: list[Dependency], resources: Mapping[str, Object], version: str) -> list[Usage]:
    """A Usage for each dependency: what is needed is deleted after what depends on it."""
    by_name = {}
    for dependency in dependencies:
        key = f"{dependency.dependent}\0{dependency.needed}".encode()
        name = f"usage-{hashlib.sha256(key).hexdigest()[:8]}"
        by_name[name] = Usage(
            name,
            {
                "apiVersion": _LEGACY_VERSION if version == _LEGACY else _VERSION,
                "kind": "Usage",
                "metadata": {"name": name},
                "spec": {
                    "replayDeletion": True,
                    "of": _selector(dependency.needed, resources),
                    "by": _selector(dependency.dependent, resources),
                },
            },
        )
    return list(by_name.values())


def _selector(name: str, resources: Mapping[str, Object]) -> Object:
    selector: Object = {
        "resourceSelector": {"matchControllerRef": True, "matchLabels": {RESOURCE_NAME: name}}
    }
    if name in resources:
        body = resources[name]["resource"]
        for field in ("apiVersion", "kind"):
            value = body.get(field)
            selector[field] = value if isinstance(value, str) else ""
    return selector
