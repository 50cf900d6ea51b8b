"""Patch sets: the patches that resources share, put in the place where a resource names them."""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Fatal
from crossply.functions.builtin.patch_and_transform.patch_types import COMPOSED_ROUTES, patch_type
from crossply.functions.builtin.patch_and_transform.patches import Patch, make_patch
from crossply.values import Object

MAX_PATCHES = 100_000
"""How many patches a step may have once its sets are in place: a few sets can stand for very many."""

PatchSets = dict[str, tuple[Patch, ...]]


def make_patch_sets(given: Object, dialect: Dialect) -> PatchSets:
    """Make the patches of every set once, however many resources use it."""
    sets: PatchSets = {}
    for patch_set in given.get("patchSets", []):
        patches = patch_set.get("patches", [])
        if any(patch_type(patch) == "PatchSet" for patch in patches):
            raise Fatal(f"{dialect.unresolvable}a patch in a PatchSet cannot be of type PatchSet")
        sets[patch_set["name"]] = tuple(make_patch(patch, COMPOSED_ROUTES, dialect) for patch in patches)
    return sets


def resolve(patches: list[Object], sets: PatchSets, dialect: Dialect) -> tuple[Patch, ...]:
    """Make the patches of a resource, each set in the place of the patch that names it."""
    resolved: list[Patch] = []
    for patch in patches:
        if patch_type(patch) != "PatchSet":
            resolved.append(make_patch(patch, COMPOSED_ROUTES, dialect))
            continue
        name = patch["patchSetName"]
        if name not in sets:
            raise Fatal(f"{dialect.unresolvable}cannot find PatchSet by name {name}")
        resolved += sets[name]
        if len(resolved) > MAX_PATCHES:
            raise Fatal(f"{dialect.unresolvable}more than {MAX_PATCHES} patches")
    return tuple(resolved)
