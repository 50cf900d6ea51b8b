"""Composite resources that compose themselves, at once or through others: they must not run away.

A Composition whose resources lead back to its own kind would make ever more of them. Nothing in a single run
shows that, but the chain of owners does: it is followed in the watch caches, at no cost to those that nobody
composed.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.composed import Composed
from crossply.compose.errors import ComposeError
from crossply.compose.metadata import controller_of, name_of, namespace_of, text_in
from crossply.kube.informer import Informer
from crossply.values import Object
from crossply.values.api_version import api_group

DEEPEST = 16
"""How many composite resources may be above one another."""


class CircleFound(ComposeError):
    """A composite resource composes itself, or is one of a chain that does not end."""

    code = "CP-813"
    hint = "look for a Composition that composes the kind that it is for, or a kind above it"


def check_depth(xr: Object, caches: Iterable[Informer]) -> None:
    """Refuse a composite resource that has too many others above it."""
    if controller_of(xr) is None:
        return
    known = list(caches)
    above: Object | None = xr
    for _ in range(DEEPEST):
        above = _owner_of(above, known) if above is not None else None
    if above is not None:
        raise CircleFound(
            f"cannot compose resources: nested too deeply: there are {DEEPEST} or more resources above "
            f"{xr['kind']} {name_of(xr)}"
        )


def check_not_itself(xr: Object, composed: Iterable[Composed]) -> None:
    """Refuse to make a composite resource a part of itself."""
    for resource in composed:
        if _place_of(resource.object) == _place_of(xr):
            raise CircleFound(
                f'cannot compose resources: cannot apply composed resource "{resource.name}": it is the '
                "composite resource itself"
            )


def _owner_of(obj: Object, caches: list[Informer]) -> Object | None:
    """What controls an object, where a cache has it."""
    reference = controller_of(obj)
    if reference is None:
        return None
    group = _group(reference)
    for cache in caches:
        if (cache.kind.group, cache.kind.kind) == (group, reference.get("kind")):
            namespace = namespace_of(obj) if cache.kind.namespaced else ""
            data = cache.get(namespace, text_in(reference, "name"))
            if data is not None:
                found: Object = orjson.loads(data)
                return found
    return None


def _place_of(obj: Object) -> tuple[str, str, str, str]:
    return _group(obj), text_in(obj, "kind"), namespace_of(obj), name_of(obj)


def _group(obj: Object) -> str:
    return api_group(text_in(obj, "apiVersion"))
