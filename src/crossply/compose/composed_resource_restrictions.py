"""What a composite resource may not compose: itself, too much, too deep, or outside of its bounds.

A Composition whose resources lead back to its own kind would make ever more of them. Nothing in a single
reconcile shows that, but the chain of owners does.
"""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.composed_resources import Composed
from crossply.compose.effects import CountOwners, Effects, FindScope
from crossply.compose.errors import CompositionLoop, OutOfBounds, StepFailed, TooManyResources
from crossply.compose.object_metadata import controller_of, name_of, namespace_of, text_in
from crossply.values import Object
from crossply.values.api_version import api_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.definition import Definition

DEEPEST = 16
"""How many composite resources may be above one another."""


def check_count(count: int, most: int) -> None:
    """Refuse more resources than one composite resource may be made of."""
    if count > most:
        raise TooManyResources(
            f"functions want {count} composed resources, and a composite resource may have at most {most} "
            "(--max-composed-resources)"
        )


def check_depth(xr: Object) -> Effects[None]:
    """Refuse a composite resource that has too many others above it."""
    if controller_of(xr) is None:
        return
    owners: int = yield CountOwners(xr, DEEPEST)
    if owners >= DEEPEST:
        raise CompositionLoop(
            f"cannot compose resources: nested too deeply: there are {DEEPEST} or more resources above "
            f"{xr['kind']} {name_of(xr)}"
        )


def check_not_itself(xr: Object, composed: Iterable[Composed]) -> None:
    """Refuse to make a composite resource a part of itself."""
    identity, name = _identity(xr), name_of(xr)
    for resource in composed:
        if resource.object["metadata"]["name"] == name and _identity(resource.object) == identity:
            raise CompositionLoop(
                f'cannot compose resources: cannot apply composed resource "{resource.name}": it is the '
                "composite resource itself"
            )


def check_named(composed: Iterable[Composed]) -> None:
    """Refuse a resource that the next reconcile could not tell from others.

    `render` shows it, as Crossplane does: there is no next reconcile.
    """
    for resource in composed:
        if not resource.name:
            raise StepFailed(
                f"cannot compose resources: functions desire a composed resource with an empty name "
                f"(a {text_in(resource.object, 'kind')})",
                hint="set metadata.name of the resource, or the annotation by which its function names it",
            )


def check_bounds(definition: Definition, composed: Iterable[Composed]) -> Effects[None]:
    """Refuse resources where this definition's composite resources may not compose any.

    A namespaced composite resource composes in its namespace, infrastructure in none. `build_composed` puts
    resources into the namespace; a kind that has no namespaces could otherwise slip through.
    """
    from crossply.kinds.application_and_infrastructure_definitions import (
        INFRASTRUCTURE,  # only where a definition is known
    )

    if definition.scope == "Namespaced":
        problem = "cannot apply cluster scoped composed resource {} for a namespaced composite resource."
        namespaced = True
    elif definition.definition_kind == INFRASTRUCTURE:
        problem = "cannot apply composed resource {} in a namespace: infrastructure has none."
        namespaced = False
    else:
        return
    for resource in composed:
        obj = resource.object
        scope: bool | None = yield FindScope(obj.get("apiVersion", ""), obj.get("kind", ""))
        # Applying one of a kind that is not served fails with a better message.
        if scope is not None and scope is not namespaced:
            named = f'"{resource.name}" (a {obj.get("kind")} named {name_of(obj)})'
            raise OutOfBounds(f"cannot compose resources: {problem.format(named)}")


def _identity(obj: Object) -> tuple[str, str, str, str]:
    group = api_group(text_in(obj, "apiVersion"))
    return group, text_in(obj, "kind"), namespace_of(obj), name_of(obj)
