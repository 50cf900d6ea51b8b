"""One call of a composite class: it composes, and then the response is completed.

Usages are composed for the dependencies between resources: what another was made of is not deleted before it.
Of resources with unknown values, those that do not exist yet wait, and others keep what was observed.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutine
from typing import Any, NamedTuple

from crossply.functions.builtin.pythonic.constructors import value_of
from crossply.functions.builtin.pythonic.node import Node, path
from crossply.functions.builtin.pythonic.origins import dependencies, fill_unknowns, unknowns

_STATE = "_pythonic"
"""The key of the context with the requirements of each step, by its name."""
_API_VERSION = "protection.crossplane.io/v1beta1"
_API_VERSION_V1 = "apiextensions.crossplane.io/v1beta1"


def compose(composite: Any, step: str, run_coroutine: Callable[[Any], None]) -> None:
    """Compose, and complete the response unless the caller has to fetch something first."""
    state = composite.context[_STATE][step]
    iteration = int(state.iteration) + 1
    state.iteration = iteration
    composite.context.iteration = iteration
    running = composite.compose()
    if iscoroutine(running):
        run_coroutine(running)
    if _asks_for_more(state, composite):
        return
    _add_usages(composite)
    _settle_unknowns(composite)
    for _, resource in composite.resources:
        _ = resource.ready  # decides it


def _asks_for_more(state: Any, composite: Any) -> bool:
    """Whether the program asks for something else than in its last call. What it asks for is kept."""
    asks = False
    for kind, selectors in (("schemas", composite.schemas), ("requireds", composite.requireds)):
        for name, selected in selectors:
            if len(selected.kind) and len(selected.apiVersion):
                selector = value_of(_selector(selected))
                if selector != state[kind][name]:
                    state[kind][name] = selector
                    asks = True
    return asks


def _selector(selected: Any) -> dict[str, Any]:
    selector = {"kind": selected.kind, "apiVersion": selected.apiVersion}
    for name in ("namespace", "matchName"):
        if len(getattr(selected, name, ())):
            selector[name] = getattr(selected, name)
    labels = {key: value for key, value in getattr(selected, "matchLabels", ())}  # noqa: C416
    return {**selector, "matchLabels": labels} if labels else selector


def _settle_unknowns(composite: Any) -> None:
    """Complete or withhold the resources with unknown values, and say so in a condition and a result."""
    waiting, incomplete, fatal = [], [], []
    for name, resource in list(composite.resources):
        if next(unknowns(resource.desired), None) is None:
            continue
        waiting.append(name)
        if not resource.observed:
            del composite.resources[name]
            continue
        incomplete.append(name)
        if composite.unknownsFatal if resource.unknownsFatal is None else resource.unknownsFatal:
            fatal.append(name)
        fill_unknowns(resource.desired, resource.observed)
    _report(composite, waiting, incomplete, fatal)


def _report(composite: Any, waiting: list[str], incomplete: list[str], fatal: list[str]) -> None:
    if not waiting:
        composite.conditions.ResourcesComposed("AllComposed", "All resources are composed", True)
        return
    if fatal:
        reason, names, result = "FatalUnknowns", fatal, composite.results.fatal
    elif incomplete:
        reason, names, result = "ObservedUnknowns", incomplete, composite.results.warning
    else:
        reason, names, result = "DesiredUnknowns", waiting, composite.results.info
    state = "Observed" if incomplete else "Desired"
    message = f"{state} resources with unknowns: {','.join(names)}"
    composite.conditions.ResourcesComposed(reason, message, False)
    result(reason, message)


class _Used(NamedTuple):
    """What a resource depends on: a composed resource, or the item of a required one."""

    name: str
    item: int | None = None


def _add_usages(composite: Any) -> None:
    """Desire a Usage for everything that resources with `usages` depend on."""
    for _, resource in list(composite.resources):
        if composite.usages if resource.usages is None else resource.usages:
            for used, reasons in _reasons(resource).items():
                if used.item is None:
                    source = composite.resources[used.name]
                else:
                    source = composite.requireds[used.name][used.item]
                _add_usage(composite, resource, source, "\n".join(reasons))


def _reasons(resource: Any) -> dict[_Used, list[str]]:
    """The assignments that make a resource depend on others, ordered by where they go to."""
    assignments = [
        (_relative(owner._fullName(key), resource.desired), source)
        for owner, key, source in dependencies(resource.desired)
    ]
    reasons: dict[_Used, list[str]] = {}
    for destination, source in sorted(assignments, key=lambda assignment: assignment[0]):
        used, its_object = _used(source)
        if used is not None:
            place = _relative(source._fullName(), its_object)
            reasons.setdefault(used, []).append(f"{destination} = {place}")
    return reasons


def _relative(name: str, above: Node) -> str:
    return name[len(above._fullName()) :].removeprefix(".")


def _used(source: Node) -> tuple[_Used | None, Node]:
    """The resource that a node belongs to, and the node of its object."""
    keys = path(source)
    match keys:
        case ("request" | "response", "observed" | "desired", "resources", str(name), "resource", _, *_):
            return _Used(name), _ancestor(source, len(keys) - 5)
        case (
            "request",
            "required_resources" | "extra_resources",
            str(name),
            "items",
            int(index),
            *inner,
        ) if inner[:1] == ["resource"] and len(inner) > 1:
            return _Used(name, index), _ancestor(source, len(keys) - 6)
    return None, source


def _ancestor(node: Node, levels: int) -> Node:
    for _ in range(levels):
        assert node._parent is not None
        node = node._parent
    return node


def _add_usage(composite: Any, resource: Any, source: Any, reason: str) -> None:
    namespace = source.metadata.namespace
    used_name = source.observed.metadata.name
    names = [resource.name, str(source.kind), *([str(namespace)] if namespace else []), str(used_name)]
    version = _API_VERSION_V1 if composite.crossplane_v1 else _API_VERSION
    usage = composite.resources["_".join(names)](version, "Usage")
    usage.spec.reason = reason
    usage.spec.replayDeletion = True
    usage.spec.by.apiVersion = resource.apiVersion
    usage.spec.by.kind = resource.kind
    usage.spec.by.resourceRef.name = resource.observed.metadata.name
    usage.spec.of.apiVersion = source.apiVersion
    usage.spec.of.kind = source.kind
    usage.spec.of.resourceRef.name = used_name
    if not composite.crossplane_v1:
        _set_scope(composite, resource, usage, namespace)


def _set_scope(composite: Any, resource: Any, usage: Any, used_namespace: Any) -> None:
    """Put the Usage where the user of the resource is; one without a namespace needs a ClusterUsage."""
    own = composite.metadata.namespace or resource.metadata.namespace
    if not own:
        usage.kind = "ClusterUsage"
        return
    if not composite.metadata.namespace:
        usage.metadata.namespace = own
    if used_namespace and used_namespace != own:
        usage.spec.of.resourceRef.namespace = used_namespace
