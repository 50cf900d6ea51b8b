"""Errors of writes that cannot be merged, with the status code and reason of the response."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError


class ApplyError(CrossplyError):
    """An object cannot be applied."""

    code = "CP-450"
    status = 500
    reason = ""


class BadApplyRequest(ApplyError):
    """The request itself is wrong: another kind, another name, or managedFields in the patch."""

    code = "CP-451"
    hint = "apply only the fields you want to own, under the name and kind in the address"
    status = 400
    reason = "BadRequest"


class NotTyped(ApplyError):
    """An object does not fit the schema that says how its fields merge."""

    code = "CP-452"
    hint = "compare the field with the schema of the kind: kubectl explain"


class BadManagedFields(ApplyError):
    """The record of who owns which field cannot be read."""

    code = "CP-453"
    hint = 'reset it with: kubectl patch --type merge -p \'{"metadata":{"managedFields":[{}]}}\''


class Cause(NamedTuple):
    """One conflict, as the causes of a Status list it."""

    field: str
    message: str
    type: str = "FieldManagerConflict"


class ApplyConflict(ApplyError):
    """Another manager owns a field that the patch would change."""

    code = "CP-454"
    hint = "apply with --force-conflicts to take the fields over, or leave them out"
    status = 409
    reason = "Conflict"

    def __init__(self, message: str, causes: tuple[Cause, ...]) -> None:
        super().__init__(message)
        self.causes = causes
