"""Field paths: how patches, checks and messages name a place inside an object.

The rules are those of Crossplane: `a.b[0]` and `a[b.c]`; reading tells "not there" apart from "not
possible", writing makes what is missing, wildcards expand over what exists. The room is split in four:
`path_syntax` (the grammar), `path_read`, `path_write` and `path_wildcards`; this module is its door.
"""

from __future__ import annotations

from crossply.values.merge import MergeOptions
from crossply.values.path_read import (
    get,
    get_bool,
    get_integer,
    get_number,
    get_string,
    get_string_array,
    get_string_object,
)
from crossply.values.path_syntax import PathError, PathNotFound, Segment, parse, to_string
from crossply.values.path_wildcards import expand
from crossply.values.path_write import MAX_INDEX, delete, merge_value, set_value

__all__ = [
    "MAX_INDEX",
    "MergeOptions",
    "PathError",
    "PathNotFound",
    "Segment",
    "delete",
    "expand",
    "get",
    "get_bool",
    "get_integer",
    "get_number",
    "get_string",
    "get_string_array",
    "get_string_object",
    "merge_value",
    "parse",
    "set_value",
    "to_string",
]
