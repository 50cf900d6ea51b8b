"""Where each patch of an input is written, in the order in which a run applies them."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.patch_and_transform.dialect import COMBINE_TYPES, patch_type
from crossply.values import Object


class PlacedPatch(NamedTuple):
    """A patch as it is written in the input."""

    settings: Object
    how: str
    where: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The paths that it reads."""
        if patch_type(self.settings) not in COMBINE_TYPES:
            return (self.settings.get("fromFieldPath", ""),)
        variables = self.settings.get("combine", {}).get("variables", [])
        return tuple(variable.get("fromFieldPath", "") for variable in variables)


class PlacedPatches(NamedTuple):
    """The patches of each resource, patch sets expanded, and of the environment."""

    resources: list[list[PlacedPatch]]
    environment: list[PlacedPatch]


def placed_patches(function_input: Object) -> PlacedPatches:
    """Find the patches of a valid input."""
    sets = {
        patch_set["name"]: [
            PlacedPatch(
                patch,
                f"patch {at} of patch set {patch_set['name']} ({_described(patch)})",
                f"patchSets[{index}].patches[{at}]",
            )
            for at, patch in enumerate(patch_set.get("patches") or [])
        ]
        for index, patch_set in enumerate(function_input.get("patchSets") or [])
    }
    resources = [
        [
            placed
            for at, patch in enumerate(resource.get("patches") or [])
            for placed in _expanded(patch, at, f"resources[{index}].", sets)
        ]
        for index, resource in enumerate(function_input.get("resources") or [])
    ]
    environment = (function_input.get("environment") or {}).get("patches") or []
    return PlacedPatches(
        resources, [_placed(patch, at, "environment.") for at, patch in enumerate(environment)]
    )


def _expanded(patch: Object, at: int, prefix: str, sets: dict[str, list[PlacedPatch]]) -> list[PlacedPatch]:
    if patch_type(patch) == "PatchSet":
        return sets[patch["patchSetName"]]
    return [_placed(patch, at, prefix)]


def _placed(patch: Object, at: int, prefix: str) -> PlacedPatch:
    of = "environment patch" if prefix == "environment." else "patch"
    return PlacedPatch(patch, f"{of} {at} ({_described(patch)})", f"{prefix}patches[{at}]")


def _described(patch: Object) -> str:
    """The type of a patch, and its transforms."""
    transforms = [str(transform.get("type", "")) for transform in patch.get("transforms") or []]
    return ", ".join([patch_type(patch), *transforms])
