"""Ways to call a function: how a Function, or one of its revisions, is reached.

Two equal ways are served by the same runner. So a Function that is called while its first revision is still
being made is not called anew when the revision comes.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.metadata import name_of
from crossply.control.package_manager.revisions_local import (
    as_function,
    carried_annotations,
    is_local,
    needs_package,
)
from crossply.functions.failures import RuntimeAnnotationError
from crossply.values import Object


class Way(NamedTuple):
    """How a function is called."""

    function: str
    image: str
    endpoint: str = ""
    """Where it is called; empty for one that needs no package."""
    revision: str = ""
    """Which revision is called there."""
    annotations: tuple[tuple[str, str], ...] = ()
    """What says how a function is run that needs no package."""

    @property
    def scheme(self) -> str:
        """The scheme of its endpoint, such as `container`."""
        scheme, separator, _ = self.endpoint.partition(":///")
        return scheme if separator else ""

    def as_function(self) -> Object:
        """The Function to bind to a runner."""
        metadata = {"name": self.function, "annotations": dict(self.annotations)}
        return {"kind": "Function", "metadata": metadata, "spec": {"package": self.image}}


def way_of_function(function: Object) -> Way | None:
    """How a Function is called that needs no package; None for all others."""
    try:
        if needs_package(function):
            return None
    except RuntimeAnnotationError:
        return None
    annotations = tuple(sorted(carried_annotations(function).items()))
    return Way(name_of(function), function["spec"]["package"], annotations=annotations)


def way_of_revision(revision: Object) -> Way | None:
    """How a revision is called; None while it has no endpoint."""
    if is_local(revision):
        return way_of_function(as_function(revision))
    endpoint = (revision.get("status") or {}).get("endpoint") or ""
    if not endpoint:
        return None
    function = as_function(revision)
    return Way(name_of(function), function["spec"]["package"], endpoint, name_of(revision))
