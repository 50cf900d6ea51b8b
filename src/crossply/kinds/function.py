"""Functions and their revisions, and which revision a pipeline step is sent to.

A function may have several active revisions at once, so that a new one can be rolled out step by step: a step
names a revision, or selects by labels, or takes the newest active one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.kinds.composition import Step
from crossply.kinds.package import Package, parse_package, reader
from crossply.values import Object

PACKAGE_LABEL = "pkg.crossplane.io/package"
COMPOSITION_CAPABILITY = "composition"


class FunctionRevision(NamedTuple):
    """One version of a function that is, or could be, running."""

    name: str
    labels: dict[str, str]
    function: str
    """The name of the Function it belongs to."""
    image: str
    number: int
    is_active: bool
    endpoint: str
    capabilities: tuple[str, ...]


def parse_function(obj: Object) -> Package:
    """Read a Function."""
    root = reader(obj)
    function = parse_package(root)
    if function.active_limit > max(function.history_limit, 1):
        problem = "must not be greater than revisionHistoryLimit"
        raise root.object("spec").wrong(problem, "activeRevisionLimit")
    return function


def parse_function_revision(obj: Object) -> FunctionRevision:
    """Read a FunctionRevision."""
    root = reader(obj)
    metadata, spec, status = root.object("metadata"), root.object("spec"), root.object("status")
    labels = metadata.string_map("labels")
    return FunctionRevision(
        name=metadata.text("name"),
        labels=labels,
        function=labels.get(PACKAGE_LABEL, ""),
        image=spec.text("image"),
        number=spec.integer("revision") or 0,
        is_active=spec.text("desiredState") == "Active",
        endpoint=status.text("endpoint"),
        capabilities=status.texts("capabilities"),
    )


def choose_revision(revisions: Iterable[FunctionRevision], step: Step) -> FunctionRevision | None:
    """The active revision a step is sent to: the one it names, else the newest that it selects."""
    if step.function_revision_ref is not None:
        named = (found for found in revisions if found.name == step.function_revision_ref)
        return next((found for found in named if found.is_active), None)
    wanted = (step.function_revision_selector or {}).items()
    eligible = [
        found
        for found in revisions
        if found.is_active and found.function == step.function and wanted <= found.labels.items()
    ]
    return max(eligible, key=lambda found: found.number, default=None)


def to_activate(revisions: Iterable[FunctionRevision], function: Package) -> frozenset[str]:
    """The names of the revisions that should be active: the newest few, or if Manual as they are."""
    if function.activation_policy != "Automatic":
        return frozenset(found.name for found in revisions if found.is_active)
    newest = sorted(revisions, key=lambda found: found.number, reverse=True)
    return frozenset(found.name for found in newest[: function.active_limit])


def can_compose(revision: FunctionRevision) -> bool:
    """Whether a revision says that it can be used in a Composition; spelling is compared loosely."""
    return any(_loosely(found) == COMPOSITION_CAPABILITY for found in revision.capabilities)


def _loosely(capability: str) -> str:
    return "".join(letter for letter in capability if letter.isascii() and letter.isalnum()).lower()
