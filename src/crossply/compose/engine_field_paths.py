"""Where a composite resource keeps the fields that belong to the engine.

Modern composite resources keep them under `spec.crossplane`, legacy ones directly under `spec`, and those of
the first design under `spec.application` or `spec.infrastructure`. Everything else asks here instead of
knowing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.values import Object


class Machinery(NamedTuple):
    """One of these places."""

    path: tuple[str, ...]
    publishes: bool
    """Whether connection details are published to a Secret, and a claim may copy them."""
    references: str = "resourceRefs"
    """The field that lists what was composed."""

    def read(self, xr: Object, field: str) -> Any:
        """The value of an engine field, or None."""
        value: Any = xr
        for key in self.path:
            value = value.get(key)
            if type(value) is not dict:
                return None
        return value.get(field)

    def name_in(self, xr: Object, field: str) -> str:
        """The name in a reference field such as `compositionRef`; empty when there is none."""
        ref = self.read(xr, field)
        name = ref.get("name") if type(ref) is dict else None
        return name if type(name) is str else ""

    def with_field(self, xr: Object, field: str, value: Any) -> Object:
        """A composite resource that differs in this field only."""
        return _with(xr, (*self.path, field), value)

    def holding(self, field: str, value: Any) -> Object:
        """A `spec` that has nothing but this field."""
        spec: Object = _with({}, (*self.path[1:], field), value)
        return spec


MODERN = Machinery(("spec", "crossplane"), publishes=False)
LEGACY = Machinery(("spec",), publishes=True)
APPLICATION = Machinery(("spec", "application"), publishes=False, references="composedRefs")
INFRASTRUCTURE = Machinery(("spec", "infrastructure"), publishes=True, references="composedRefs")

_PLACES = {machinery.path[1:]: machinery for machinery in (MODERN, LEGACY, APPLICATION, INFRASTRUCTURE)}


def machinery_at(field: str) -> Machinery:
    """The machinery in a field of the spec; an empty one means the spec itself."""
    return _PLACES[(field,) if field else ()]


def claim_reference(xr: Object) -> Object | None:
    """The reference of a composite resource to its claim or, in the first design, its requirement."""
    for ref in (LEGACY.read(xr, "claimRef"), INFRASTRUCTURE.read(xr, "requirementRef")):
        if isinstance(ref, dict):
            return ref
    return None


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    head, rest = path[0], path[1:]
    if not rest:
        return {**obj, head: value}
    inner = obj.get(head)
    return {**obj, head: _with(inner if type(inner) is dict else {}, rest, value)}
