"""What differs between function-patch-and-transform and Crossplane's own `mode: Resources`, as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform import shapes
from crossply.functions.builtin.patch_and_transform.decode import Struct
from crossply.functions.builtin.patch_and_transform.joining import join_like_the_function
from crossply.functions.builtin.patch_and_transform.patch_types import COMPOSED_ROUTES
from crossply.values import Object
from crossply.values.merge import MergeOptions

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


class Dialect(NamedTuple):
    """How templates are read and what their settings mean."""

    shape: Struct
    """What the input may look like."""

    undecodable: str
    """What to say in front of the decoder's complaint."""

    unacceptable: str
    """What to say in front of a field error."""

    patch_set_path: str
    """How a field error names a patch set; the function leaves it out."""

    nested_set_problem: str
    """Why a set cannot hold a set, when that is found while validating."""

    unresolvable: str
    """What to say in front of a complaint about patch sets."""

    patch_types: frozenset[str]
    string_types: frozenset[str]
    merge_policies: dict[str, MergeOptions | None]
    needs_patterns: bool
    """Whether a match transform must have a pattern."""

    join: Callable[[str, list[str]], str]
    """Join texts with a separator."""

    not_a_list: str
    """What to say when there is nothing to join."""

    native_numbers: bool
    """Whether whole numbers of objects are integers. In the function every number is a double."""

    has_environment: bool
    """Whether the context holds an environment that patches can use."""

    complete: Callable[[Object], None] | None
    """Fill in what the API server would have defaulted, before the input is validated."""


def merge_options(patch: Object, dialect: Dialect) -> MergeOptions | str | None:
    """How a patch merges its value, or the name of a policy that does not exist."""
    policy: Any = patch.get("policy", {})
    if "mergeOptions" in policy:
        options = policy["mergeOptions"]
        return MergeOptions(options.get("keepMapValues"), options.get("appendSlice"))
    name: str = policy.get("toFieldPath", "Replace")
    return dialect.merge_policies.get(name, name)


FUNCTION = Dialect(
    shape=shapes.RESOURCES,
    undecodable=(
        "cannot get Function input: "
        "cannot get function input *v1beta1.Resources from *v1.RunFunctionRequest: "
        "cannot unmarshal JSON from *structpb.Struct into *v1beta1.Resources: "
    ),
    unacceptable="invalid Function input: ",
    patch_set_path="",
    nested_set_problem="patch type *v1beta1.PatchSetPatch does not support patch of type PatchSet",
    unresolvable="cannot resolve PatchSets: ",
    patch_types=frozenset({*COMPOSED_ROUTES, "PatchSet"}),
    string_types=STRING_TYPES,
    merge_policies=MERGE_POLICIES,
    needs_patterns=True,
    join=join_like_the_function,
    not_a_list="could not parse input array",
    native_numbers=False,
    has_environment=True,
    complete=None,
)
"""function-patch-and-transform."""
