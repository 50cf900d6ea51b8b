"""The types of patches, and between which objects each of them carries a value."""

from __future__ import annotations

from crossply.values import Object

FROM_COMPOSITE, FROM_ENVIRONMENT, FROM_COMPOSED = 0, 1, 2
"""Where a value comes from: the observed XR, the environment, the observed composed resource."""

TO_COMPOSED, TO_COMPOSITE, TO_ENVIRONMENT = 0, 1, 2
"""Where it goes: the desired composed resource, the desired XR, the environment."""

Route = tuple[int, int]

COMPOSED_ROUTES: dict[str, Route] = {
    "FromCompositeFieldPath": (FROM_COMPOSITE, TO_COMPOSED),
    "ToCompositeFieldPath": (FROM_COMPOSED, TO_COMPOSITE),
    "CombineFromComposite": (FROM_COMPOSITE, TO_COMPOSED),
    "CombineToComposite": (FROM_COMPOSED, TO_COMPOSITE),
    "FromEnvironmentFieldPath": (FROM_ENVIRONMENT, TO_COMPOSED),
    "CombineFromEnvironment": (FROM_ENVIRONMENT, TO_COMPOSED),
    "ToEnvironmentFieldPath": (FROM_COMPOSED, TO_ENVIRONMENT),
    "CombineToEnvironment": (FROM_COMPOSED, TO_ENVIRONMENT),
}
"""Patches of a resource."""

ENVIRONMENT_ROUTES: dict[str, Route] = {
    "FromCompositeFieldPath": (FROM_COMPOSITE, TO_ENVIRONMENT),
    "ToEnvironmentFieldPath": (FROM_COMPOSITE, TO_ENVIRONMENT),
    "CombineFromComposite": (FROM_COMPOSITE, TO_ENVIRONMENT),
    "ToCompositeFieldPath": (FROM_ENVIRONMENT, TO_COMPOSITE),
    "FromEnvironmentFieldPath": (FROM_ENVIRONMENT, TO_COMPOSITE),
    "CombineToComposite": (FROM_ENVIRONMENT, TO_COMPOSITE),
}
"""Patches of the environment, where the same words stand for other ways."""

COMBINE_TYPES = frozenset(kind for kind in COMPOSED_ROUTES if kind.startswith("Combine"))


def patch_type(patch: Object) -> str:
    """The type of a patch, which need not be written."""
    return patch.get("type") or "FromCompositeFieldPath"


def target_path(patch: Object) -> str:
    """Where a patch writes: the path it reads from unless it says otherwise."""
    path: str = patch["toFieldPath"] if "toFieldPath" in patch else patch.get("fromFieldPath", "")
    return path
