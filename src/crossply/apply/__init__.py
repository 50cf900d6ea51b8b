"""Server-side apply: who owns which field of an object, and what happens when two want the same.

Everything here is pure: objects in, objects out, the time as an argument. `scope` says what an endpoint
knows (compile it once for a kind), `applying` and `updating` are the two ways to write. Below them:
`types` and `compile` (how a schema merges), `field_sets`, `elements` and `fields_v1` (sets of fields),
`validate`, `owned`, `compare`, `merge`, `remove`, `prune`, `reconcile` (walks over typed values), and
`ownership`, `managers`, `conflicts` (who owns what).
"""

from crossply.apply.addressing import at_address
from crossply.apply.applying import Applied, apply
from crossply.apply.compile import builtin_type, custom_type
from crossply.apply.errors import (
    ApplyConflict,
    ApplyError,
    BadApplyRequest,
    BadManagedFields,
    Cause,
    NotTyped,
)
from crossply.apply.scale import parent_entries, scale_entries
from crossply.apply.scope import Scope, custom_scopes
from crossply.apply.timestamps import with_old_times
from crossply.apply.updating import update
from crossply.apply.versions import Version

__all__ = [
    "Applied",
    "ApplyConflict",
    "ApplyError",
    "BadApplyRequest",
    "BadManagedFields",
    "Cause",
    "NotTyped",
    "Scope",
    "Version",
    "apply",
    "at_address",
    "builtin_type",
    "custom_scopes",
    "custom_type",
    "parent_entries",
    "scale_entries",
    "update",
    "with_old_times",
]
