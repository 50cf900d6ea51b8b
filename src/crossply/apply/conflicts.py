"""Conflicts between managers, and the sentences that report them."""

from __future__ import annotations

from typing import NamedTuple

from crossply.apply.errors import ApplyConflict, Cause
from crossply.apply.field_sets import FieldSet, Path, path_text, paths
from crossply.apply.managed_fields import UPDATE, Identity
from crossply.values.goformat import sprintf


class Conflict(NamedTuple):
    """A field that a manager owns and another wants to change."""

    owner: Identity
    path: Path


def conflicts_of(owners: dict[Identity, FieldSet]) -> list[Conflict]:
    """List the conflicts by owner and field."""
    ordered = sorted(owners, key=Identity.text)
    return [Conflict(owner, path) for owner in ordered for path in paths(owners[owner])]


def conflict_error(conflicts: list[Conflict]) -> ApplyConflict:
    """Return the answer to an apply that met conflicts."""
    causes = [Cause(path_text(path), f"conflict with {_named(owner)}") for owner, path in conflicts]
    return ApplyConflict(_message(conflicts), tuple(causes))


def _message(conflicts: list[Conflict]) -> str:
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {_named(owner)}: {path_text(path)}"
    lines: list[str] = []
    last = None
    for owner, path in conflicts:
        if owner != last:
            lines.append(f"conflicts with {_named(owner)}:")
            last = owner
        lines.append(f"- {path_text(path)}")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _named(owner: Identity) -> str:
    text = sprintf("%q", [owner.manager])
    if owner.subresource:
        text += f" with subresource {sprintf('%q', [owner.subresource])}"
    if owner.operation == UPDATE:
        text += f" using {owner.api_version}"
    return text
