"""What a save changed: in the files' own objects, and in what is composed of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.cli.plan.text_output import field_text, sign_of
from crossply.cli.up.files.applier import CHANGED, CREATED, DELETED, FAILED, NOT_DELETED, Outcome
from crossply.cli.up.files.file_set import relative
from crossply.control.planning.field_changes import Field, fields_between
from crossply.resource_tree.node import RESOURCE_NAME, Node, Reference
from crossply.values import Object

MOST_FIELDS = 8
MOST_OBJECTS = 12
_SIGNS = {CREATED: "+", CHANGED: "~", DELETED: "-", NOT_DELETED: "!", FAILED: "!"}
_UNINTERESTING = ("status", "metadata.finalizers", "spec.resourceRefs", "spec.crossplane.resourceRefs")

Objects = Mapping[Reference, Object]


def objects_of(roots: Sequence[Node]) -> dict[Reference, Object]:
    """Every object that exists in some trees."""
    return {node.reference: node.object for root in roots for node in root.walk() if node.problem is None}


def outcome_lines(outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """A line for each object that is not as it was, with its fields below."""
    lines: list[str] = []
    for outcome in outcomes:
        sign = _SIGNS.get(outcome.action)
        if sign is None:
            continue
        label = harmless(outcome.item.label)
        if outcome.action == FAILED:
            lines.append(style.sign(sign, f"! {label}: {harmless(outcome.problem)}"))
            lines.append(f"    at {harmless(relative(outcome.item.place))}")
            lines += [f"    try: {style.accent(harmless(outcome.hint))}"] if outcome.hint else []
        elif outcome.action == NOT_DELETED:
            text = f"! {label} is no longer in the files, and is kept; {harmless(outcome.hint)} deletes it"
            lines.append(style.sign(sign, text))
        else:
            lines.append(style.sign(sign, f"{sign} {label} {outcome.action}"))
            lines += _fields(outcome.fields, style)
    return lines


def composed_lines(before: Objects, after: Objects, applied: set[Reference], style: Style) -> list[str]:
    """What came, went and changed among composed objects; those of the files are left out."""
    references = [reference for reference in dict.fromkeys((*before, *after)) if reference not in applied]
    changes = list(filter(None, (_change(reference, before, after, style) for reference in references)))
    lines = [line for change in changes[:MOST_OBJECTS] for line in change]
    if len(changes) > MOST_OBJECTS:
        lines.append(f"and {len(changes) - MOST_OBJECTS} more objects")
    return lines


def _change(reference: Reference, before: Objects, after: Objects, style: Style) -> list[str]:
    if reference not in after:
        return [style.sign("-", f"- {_label(reference, before)} deleted")]
    if reference not in before:
        return [style.sign("+", f"+ {_label(reference, after)} created")]
    fields = [
        field
        for field in fields_between(before[reference], after[reference])
        if not field.path.startswith(_UNINTERESTING)
    ]
    if not fields:
        return []
    return [style.sign("~", f"~ {_label(reference, after)} changed"), *_fields(fields, style)]


def _label(reference: Reference, objects: Objects) -> str:
    annotations = (objects[reference].get("metadata") or {}).get("annotations") or {}
    resource = annotations.get(RESOURCE_NAME)
    return harmless(f"{reference.label}" + (f", resource {resource}" if resource else ""))


def _fields(fields: Sequence[Field], style: Style) -> Iterator[str]:
    for field in fields[:MOST_FIELDS]:
        yield "    " + style.sign(sign_of(field), f"{sign_of(field)} {field_text(field)}")
    if len(fields) > MOST_FIELDS:
        yield f"    and {len(fields) - MOST_FIELDS} more fields"
