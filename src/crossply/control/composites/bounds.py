"""Where a composite resource may compose anything: an application in its namespace, infrastructure in none.

The engine puts what a namespaced composite resource composes into its namespace. Whether a kind lives in
namespaces at all is known here, and must be asked before anything is written: a cluster scoped object with a
namespace could otherwise slip through.
"""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.composed import Composed
from crossply.compose.errors import OutOfBounds, TooManyResources
from crossply.compose.metadata import name_of
from crossply.kinds.definition import Definition
from crossply.kinds.definition_v1alpha1 import INFRASTRUCTURE
from crossply.kube.discovery import Discovery, UnknownKind


def check_count(count: int, most: int) -> None:
    """Refuse more resources than one composite resource may be made of."""
    if count > most:
        raise TooManyResources(
            f"functions want {count} composed resources, and a composite resource may have at most {most} "
            "(--max-composed-resources)"
        )


async def check_bounds(discovery: Discovery, definition: Definition, composed: Iterable[Composed]) -> None:
    """Refuse resources that lie where this definition's composite resources may not compose."""
    if definition.scope == "Namespaced":
        problem = "cannot apply cluster scoped composed resource {} for a namespaced composite resource."
        namespaced = True
    elif definition.definition_kind == INFRASTRUCTURE:
        problem = "cannot apply composed resource {} in a namespace: infrastructure has none."
        namespaced = False
    else:
        return
    for resource in composed:
        if await _is_namespaced(discovery, resource, namespaced) is not namespaced:
            obj = resource.object
            what = f'"{resource.name}" (a {obj.get("kind")} named {name_of(obj)})'
            raise OutOfBounds(f"cannot compose resources: {problem.format(what)}")


async def _is_namespaced(discovery: Discovery, resource: Composed, unknown: bool) -> bool:
    obj = resource.object
    try:
        kind = await discovery.kind_for(obj.get("apiVersion", ""), obj.get("kind", ""))
    except UnknownKind:
        # Applying it will fail, and tells more.
        return unknown
    return kind.namespaced
