"""What differs between function-patch-and-transform and Crossplane's own `mode: Resources`, as data.

The types of patches, with the source and the target of each, are here because both dialects share them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform import input_schema
from crossply.functions.builtin.patch_and_transform.input_decoder import Struct
from crossply.values import Object
from crossply.values.merge import MergeOptions

FROM_COMPOSITE, FROM_ENVIRONMENT, FROM_COMPOSED = 0, 1, 2
"""The source of a patch: the observed XR, the environment, the observed composed resource."""

TO_COMPOSED, TO_COMPOSITE, TO_ENVIRONMENT = 0, 1, 2
"""The target of a patch: the desired composed resource, the desired XR, the environment."""

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
"""Patches of the environment. The same types have other sources and targets here."""

COMBINE_TYPES = frozenset(kind for kind in COMPOSED_ROUTES if kind.startswith("Combine"))


def patch_type(patch: Object) -> str:
    """The type of a patch, with its default."""
    return patch.get("type") or "FromCompositeFieldPath"


def target_path(patch: Object) -> str:
    """The path that a patch writes; it defaults to the path that it reads."""
    path: str = patch["toFieldPath"] if "toFieldPath" in patch else patch.get("fromFieldPath", "")
    return path


def join(separator: str, texts: list[str]) -> str:
    return separator.join(texts)


def join_and_cut_last_byte(separator: str, texts: list[str]) -> str:
    """Append the separator to each text, then cut the last byte, as the published function does.

    Compositions depend on it: only separators of one byte give what a join should give.
    """
    if not separator or not texts:
        return "".join(texts)
    joined = separator.join([*texts, ""]).encode("utf-8", "surrogateescape")
    return joined[:-1].decode("utf-8", "surrogateescape")


MERGE_POLICIES: dict[str, MergeOptions | None] = {
    "Replace": None,
    "MergeObjects": MergeOptions(keep_map_values=True),
    "MergeObject": MergeOptions(keep_map_values=True),
    "MergeObjectsAppendArrays": MergeOptions(keep_map_values=True, append_slice=True),
    "ForceMergeObjects": MergeOptions(keep_map_values=False),
    "ForceMergeObjectsAppendArrays": MergeOptions(append_slice=True),
    "AppendArray": MergeOptions(append_slice=True),
}
STRING_TYPES = frozenset({"Format", "Convert", "TrimPrefix", "TrimSuffix", "Regexp", "Join", "Replace"})


Transform = Callable[[Any], Any]
"""A transform that is compiled: from a value to a value, or raises Failure or an error of `values`."""


class Dialect(NamedTuple):
    """How templates are decoded, validated and rendered."""

    schema: Struct
    """The fields of the input."""

    decode_error_prefix: str
    validation_error_prefix: str
    patch_set_path: str
    """The path of a patch set in field errors; the function leaves it out."""

    nested_patch_set_error: str
    """The validation error of a patch set in a patch set; empty if validation accepts it."""

    patch_set_error_prefix: str
    patch_types: frozenset[str]
    string_types: frozenset[str]
    merge_policies: dict[str, MergeOptions | None]
    needs_patterns: bool
    """Whether a match transform must have a pattern."""

    join: Callable[[str, list[str]], str]
    join_error: str
    """The error of joining a value that is no list."""

    native_numbers: bool
    """Whether patches see whole numbers as integers. In the function every number is a double."""

    environment_routes: dict[str, Route]
    """The types of the patches of the environment, with their sources and targets."""

    has_environment: bool
    """Whether the environment of the context is read and written even where no patch uses it."""

    set_defaults: Callable[[Object], None] | None
    """Sets, before validation, the defaults that an API server would set."""


def merge_options(patch: Object, dialect: Dialect) -> MergeOptions | str | None:
    """How a patch merges its value, None for replace, or the name of an unknown policy."""
    policy: Any = patch.get("policy", {})
    if "mergeOptions" in policy:
        options = policy["mergeOptions"]
        return MergeOptions(options.get("keepMapValues"), options.get("appendSlice"))
    name: str = policy.get("toFieldPath", "Replace")
    return dialect.merge_policies.get(name, name)


FUNCTION = Dialect(
    schema=input_schema.RESOURCES,
    decode_error_prefix=(
        "cannot get Function input: "
        "cannot get function input *v1beta1.Resources from *v1.RunFunctionRequest: "
        "cannot unmarshal JSON from *structpb.Struct into *v1beta1.Resources: "
    ),
    validation_error_prefix="invalid Function input: ",
    patch_set_path="",
    nested_patch_set_error="patch type *v1beta1.PatchSetPatch does not support patch of type PatchSet",
    patch_set_error_prefix="cannot resolve PatchSets: ",
    patch_types=frozenset({*COMPOSED_ROUTES, "PatchSet"}),
    string_types=STRING_TYPES,
    merge_policies=MERGE_POLICIES,
    needs_patterns=True,
    join=join_and_cut_last_byte,
    join_error="could not parse input array",
    native_numbers=False,
    environment_routes=ENVIRONMENT_ROUTES,
    has_environment=True,
    set_defaults=None,
)
"""function-patch-and-transform."""
