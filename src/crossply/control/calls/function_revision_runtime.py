"""What a FunctionRevision says about how its function runs, and whether it does.

Functions that need no package are built in, or their annotations say how they are run. They have revisions
like all others. Such a revision carries the annotations of its Function, so that it can be run in the same
way whatever happens to the Function.
"""

from __future__ import annotations

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import annotations_of, labels_of
from crossply.functions.binding import FROM_IMAGES, choose_runtime
from crossply.functions.failures import RuntimeAnnotationError
from crossply.values import Object
from crossply.values.digest import of_value

PACKAGE = "pkg.crossplane.io/package"
"""The label of a revision that names its package."""
ACTIVE, INACTIVE = "Active", "Inactive"
"""Values of a revision's `spec.desiredState`."""
RUNTIME_HEALTHY = "RuntimeHealthy"
"""The condition that says whether a revision runs."""
_RUNTIME_PREFIXES = ("crossply.dev/", "render.crossplane.io/")


def needs_package(function: Object) -> bool:
    """Whether a Function is run from its image; raises what is wrong with its annotations."""
    return choose_runtime(function) in FROM_IMAGES


def is_local(revision: Object) -> bool:
    """Whether a FunctionRevision is one of a Function that needs no package."""
    if revision.get("kind") != "FunctionRevision" or is_unpacked(revision):
        return False
    try:
        return not needs_package(as_function(revision))
    except RuntimeAnnotationError:
        return False


def is_unpacked(revision: Object) -> bool:
    """Whether a revision was installed from its image, and nothing says that it runs in another way.

    This includes one that Crossplane installed, also of a function that is built in here.
    """
    resolved = (revision.get("status") or {}).get("resolvedImage")
    return bool(resolved) and not runtime_annotations(revision)


def stays_with_revision(function: Object, current: Object | None) -> bool:
    """Whether a Function that needs no package stays with a revision that was installed from its image.

    Crossplane installed it. It stays, healthy or not, until the Function names another package or says how it
    runs: a function must not be exchanged because one of its Pods fails.
    """
    if current is None or not is_unpacked(current) or runtime_annotations(function):
        return False
    has_run = bool((current.get("status") or {}).get("endpoint"))
    installed = (function.get("status") or {}).get("currentIdentifier")
    return has_run and bool(installed == function["spec"]["package"])


def as_function(revision: Object) -> Object:
    """The Function of a FunctionRevision, as it was when the revision was created."""
    return {
        "apiVersion": revision["apiVersion"],
        "kind": "Function",
        "metadata": {
            "name": labels_of(revision).get(PACKAGE, ""),
            "annotations": runtime_annotations(revision),
        },
        "spec": {"package": revision["spec"].get("image", "")},
    }


def runtime_annotations(obj: Object) -> dict[str, str]:
    """The annotations that say how a Function is run."""
    return {key: value for key, value in annotations_of(obj).items() if key.startswith(_RUNTIME_PREFIXES)}


def local_identity(function: Object) -> str:
    """The SHA-256 of what decides how a Function runs, in place of an image digest."""
    return of_value({"package": function["spec"]["package"], "annotations": runtime_annotations(function)})


def is_running(revision: Object) -> bool:
    """Whether a revision is reported to run in its current generation."""
    generation = revision["metadata"].get("generation", 0)
    for condition in read_conditions(revision.get("status")):
        if condition["type"] == RUNTIME_HEALTHY:
            observed = condition.get("observedGeneration", generation)
            return bool(condition["status"] == "True" and observed >= generation)
    return False
