"""What a plan does to the external resources of managed resources; pure."""

from __future__ import annotations

from crossply.compose.object_metadata import annotations_of, name_of
from crossply.control.planning.change_tree import CHANGE, CREATE, DELETE, Node
from crossply.control.planning.field_changes import Field
from crossply.values import Object
from crossply.values.differences import MISSING

EXTERNAL_NAME = "crossplane.io/external-name"
_FIELD = f"metadata.annotations[{EXTERNAL_NAME}]"
_ALL = "*"


def is_managed(obj: Object) -> bool:
    """Whether an object stands for something outside."""
    spec = obj.get("spec")
    return (isinstance(spec, dict) and "forProvider" in spec) or EXTERNAL_NAME in annotations_of(obj)


def annotate_external(node: Node) -> None:
    """Add what becomes of the external resource."""
    if not is_managed(node.obj):
        return
    if node.action == CHANGE:
        changed = next((field for field in node.fields if field.path == _FIELD), None)
        if changed is not None:
            node.warnings.append(_renamed(changed, name_of(node.obj)))
    elif node.action == CREATE and EXTERNAL_NAME in annotations_of(node.obj):
        name = annotations_of(node.obj)[EXTERNAL_NAME]
        node.notes.append(f'adopts the external resource "{name}" where it exists')
    elif node.action == DELETE:
        node.notes.append(_deleted(node.obj))


def _renamed(field: Field, name: str) -> str:
    """An external resource is only known by its name."""
    before = name if field.before is MISSING else field.before
    after = name if field.after is MISSING else field.after
    return (
        f'external name would change from "{before}" to "{after}": the provider observes or creates '
        f'"{after}", and "{before}" stays unmanaged'
    )


def _deleted(obj: Object) -> str:
    name = annotations_of(obj).get(EXTERNAL_NAME) or name_of(obj)
    reason = _why_orphaned(obj.get("spec"))
    if reason:
        return f'external resource "{name}" stays: {reason}'
    return f'external resource "{name}" is deleted too'


def _why_orphaned(spec: object) -> str:
    """Why a deletion leaves the external resource; an explicit Delete among the policies wins."""
    fields = spec if isinstance(spec, dict) else {}
    policies = fields.get("managementPolicies")
    known = policies if isinstance(policies, list) else [_ALL]
    if "Delete" in known:
        return ""
    if _ALL not in known:
        return "managementPolicies does not have Delete"
    return "deletionPolicy is Orphan" if fields.get("deletionPolicy") == "Orphan" else ""
