"""A plan as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson

from crossply.compose.object_metadata import name_of, namespace_of, text_in
from crossply.control.planning.change_tree import NONE, Node
from crossply.control.planning.dry_run_planner import Plan
from crossply.control.planning.field_changes import Field
from crossply.control.planning.plan_entry_point import PlanResult
from crossply.values import Object
from crossply.values.differences import MISSING

_WORDS = {"create": "create", "change": "change", "delete": "delete", "none": "unchanged"}


def as_json(result: PlanResult) -> str:
    """The whole plan."""
    plan = result.plan
    document = {
        "changes": plan.is_changing,
        "fails": plan.is_failing,
        "summary": summary(plan),
        "others": [_node(node, result) for node in plan.others],
        "composites": [_node(node, result) for node in plan.roots],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def summary(plan: Plan) -> Object:
    """How many composite resources and how many other resources meet with what."""
    composites, resources = Counter[str](), Counter[str]()
    for node in (descendant for root in plan.roots for descendant in root.walk()):
        if node.is_composite:
            action = "change" if node.action == NONE and node.is_changing else node.action
            composites[_WORDS[action]] += 1
            composites["fail"] += bool(node.error)
        elif node not in plan.roots:
            resources[_WORDS[node.action]] += 1
    words = _WORDS.values()
    return {
        "composites": {word: composites[word] for word in (*words, "fail")},
        "resources": {word: resources[word] for word in words},
    }


def _node(node: Node, result: PlanResult) -> Object:
    text = result.unknown.text
    document: Object = {
        "action": _WORDS[node.action],
        "apiVersion": text_in(node.obj, "apiVersion"),
        "kind": text_in(node.obj, "kind"),
        "namespace": namespace_of(node.obj),
        "name": text(name_of(node.obj)),
        "resource": node.resource,
        "reason": text(node.reason),
        "fields": [_field(result.unknown.field(field)) for field in node.fields],
        "notes": [text(note) for note in node.notes],
        "warnings": [text(warning) for warning in node.warnings],
        "error": text(node.error),
        "hint": text(node.hint),
    }
    fields = {key: value for key, value in document.items() if value or key == "action"}
    if node.children:
        fields["children"] = [_node(child, result) for child in node.children]
    return fields


def _field(field: Field) -> Object:
    """A value that is not there has no key."""
    values: dict[str, Any] = {"before": field.before, "after": field.after}
    document: Object = {"path": field.path}
    document |= {key: value for key, value in values.items() if value is not MISSING}
    if field.source is not None:
        document["source"] = field.source.to_json()
    return {**document, "secret": True} if field.secret else document
