"""The resources that the function of a step wants watched: collected over its calls, and checked.

A function may watch what its step lets it ask for, and what it was sent: a rule about labels says nothing
of a name, but whatever it let through was checked already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crossply.compose.allowed_extra_resources import is_allowed
from crossply.compose.errors import RequirementRefused
from crossply.compose.function_messages import Requirements, Resource, ResourceRef, ResourceSelector, Response
from crossply.compose.object_metadata import name_of, namespace_of, text_in
from crossply.kinds.composition import WATCHED_REFS, Step
from crossply.values import Object

ResourceGroups = Mapping[str, tuple[Resource, ...]]


class WatchedResources:
    """What one step wants watched."""

    __slots__ = ("_refs", "_sent", "_step")

    def __init__(self, step: Step) -> None:
        self._step = step
        self._refs: dict[ResourceRef, None] = {}
        self._sent: set[ResourceRef] = set()

    def __len__(self) -> int:
        return len(self._refs)

    def permit(self, *sent: ResourceGroups) -> None:
        """Let the function watch resources that it was sent."""
        if self._step.allowed_extra_resources is not None:
            self._sent.update(
                _ref_to(resource) for groups in sent for group in groups.values() for resource in group
            )

    def add(self, requirements: Requirements | None) -> None:
        """Add what one answer wants watched; raises where that is not allowed."""
        for ref in requirements.watch_resources if requirements is not None else ():
            self._check(ref)
            self._refs[ref] = None

    def into(self, response: Response) -> Response:
        """The last response, with everything that any response required to be watched."""
        if not self._refs:
            return response
        requirements = response.requirements or Requirements()
        return response._replace(requirements=requirements._replace(watch_resources=tuple(self._refs)))

    def _check(self, ref: ResourceRef) -> None:
        selector = ResourceSelector(ref.api_version, ref.kind, ref.name, namespace=ref.namespace)
        if ref in self._sent or is_allowed(self._step, selector):
            return
        raise RequirementRefused(
            f'step "{self._step.name}" does not allow its function to watch {ref.kind} '
            f'({ref.api_version}) "{ref.name}"'
        )


def watched_status(refs: Iterable[ResourceRef]) -> Object:
    """The part of a composite resource's status that names what is watched for it."""
    listed = [
        {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "name": ref.name,
            **({"namespace": ref.namespace} if ref.namespace else {}),
        }
        for ref in refs
    ]
    return {WATCHED_REFS: listed} if listed else {}


def _ref_to(resource: Resource) -> ResourceRef:
    obj = resource.object
    return ResourceRef(
        text_in(obj, "apiVersion"), text_in(obj, "kind"), name_of(obj), namespace_of(obj) or None
    )
