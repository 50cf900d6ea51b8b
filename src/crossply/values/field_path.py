"""Field paths: `a.b[0]`, `a[b.c]`, `items[*].name`, with the rules of Crossplane.

Reading distinguishes a missing field from one that cannot exist, writing creates what is missing, wildcards
expand over what exists. This module is the public side of `field_path_syntax`, `field_path_read` and
`field_path_write`.
"""

from __future__ import annotations

from crossply.values.field_path_read import (
    expand,
    get,
    get_bool,
    get_integer,
    get_number,
    get_string,
    get_string_array,
    get_string_object,
)
from crossply.values.field_path_syntax import PathError, PathNotFound, Segment, parse, to_string
from crossply.values.field_path_write import MAX_INDEX, delete, merge_value, set_value
from crossply.values.merge import MergeOptions

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
