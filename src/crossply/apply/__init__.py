"""Server-side apply: managed fields, conflicts and merging.

Everything here is pure: objects in, objects out, the time as an argument. `request_scope` describes an
endpoint (compile it once for a kind); `apply_operation` and `update_operation` are the two operations that
managedFields knows. Below them: `schema_compiler` and `schema_types` (how the values of a schema merge),
`path_elements` and `field_sets` (fieldsV1), `validate`, `configuration_field_set`, `compare`, `merge` and
`prune` (walks over typed values, named as in Kubernetes' structured-merge-diff), `managed_fields` and
`ownership` (who owns a field, and who is in conflict about it).
"""

from crossply.apply.apply_operation import Applied, apply
from crossply.apply.errors import (
    ApplyConflict,
    ApplyError,
    BadApplyRequest,
    BadManagedFields,
    Cause,
    NotTyped,
)
from crossply.apply.managed_fields import with_old_times
from crossply.apply.object_identity_check import at_address
from crossply.apply.request_scope import Scope, Version, custom_scopes
from crossply.apply.scale_subresource import parent_entries, scale_entries
from crossply.apply.schema_compiler import builtin_type, custom_type
from crossply.apply.update_operation import update

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
