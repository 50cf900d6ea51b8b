"""How a Function, or one of its revisions, is reached.

Two equal endpoints are served by the same runner. So a Function that is called before its first revision
exists is not opened again when the revision comes.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import name_of
from crossply.control.calls.function_revision_runtime import (
    as_function,
    is_local,
    needs_package,
    runtime_annotations,
)
from crossply.functions.failures import RuntimeAnnotationError
from crossply.values import Object


class Endpoint(NamedTuple):
    """How a function is called."""

    function: str
    image: str
    address: str = ""
    """What the revision's `status.endpoint` says; empty for a function that needs no package."""
    revision: str = ""
    """The revision that is called at the address."""
    annotations: tuple[tuple[str, str], ...] = ()
    """How a function without a package is run."""

    @property
    def scheme(self) -> str:
        """The scheme of its address, such as `container`."""
        scheme, separator, _ = self.address.partition(":///")
        return scheme if separator else ""

    def as_function(self) -> Object:
        """The Function to bind to a runner."""
        metadata = {"name": self.function, "annotations": dict(self.annotations)}
        return {"kind": "Function", "metadata": metadata, "spec": {"package": self.image}}


def function_endpoint(function: Object) -> Endpoint | None:
    """The endpoint of a Function that needs no package; None for all others."""
    try:
        if needs_package(function):
            return None
    except RuntimeAnnotationError:
        return None
    annotations = tuple(sorted(runtime_annotations(function).items()))
    return Endpoint(name_of(function), function["spec"]["package"], annotations=annotations)


def revision_endpoint(revision: Object) -> Endpoint | None:
    """The endpoint of a revision; None while its status has none."""
    if is_local(revision):
        return function_endpoint(as_function(revision))
    address = (revision.get("status") or {}).get("endpoint") or ""
    if not address:
        return None
    function = as_function(revision)
    return Endpoint(name_of(function), function["spec"]["package"], address, name_of(revision))
