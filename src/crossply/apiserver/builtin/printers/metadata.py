"""Cells that several kinds share: name, age, labels, selectors, containers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.tables.human_duration import since
from crossply.values import Object


def name_of(obj: Object) -> str:
    name: str = (obj.get("metadata") or {}).get("name", "")
    return name


def age_of(obj: Object, now: datetime) -> str:
    return since((obj.get("metadata") or {}).get("creationTimestamp"), now)


def name_and_creation(obj: Object, now: datetime) -> list[Any]:
    """The cells of a kind without a printer of its own."""
    return [name_of(obj), (obj.get("metadata") or {}).get("creationTimestamp")]


def name_and_age(obj: Object, now: datetime) -> list[Any]:
    """The cells of a kind that shows only its age."""
    return [name_of(obj), age_of(obj, now)]


def is_going(obj: Object) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


_OPERATORS = {"In": "in", "NotIn": "notin"}


def labels_text(labels: Any) -> str:
    """Labels as `a=b,c=d`."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels or ())) or "<none>"


def selector_text(selector: Object | None) -> str:
    """A label selector in query syntax; empty if it selects everything, `<none>` without one."""
    if selector is None:
        return "<none>"
    clauses = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    clauses += [
        (expression.get("key", ""), _clause(expression))
        for expression in selector.get("matchExpressions") or ()
    ]
    return ",".join(text for _, text in sorted(clauses, key=lambda clause: clause[0]))


def _clause(expression: Object) -> str:
    key, operator = expression.get("key", ""), expression.get("operator", "")
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    return f"{key} {_OPERATORS.get(operator, operator)} ({','.join(sorted(expression.get('values') or ()))})"


def selector_or_none(selector: Object | None) -> str:
    """A label selector; `<none>` if it selects everything."""
    return selector_text(selector) or "<none>"


def container_cells(template: Object | None) -> list[str]:
    """The names and the images of a Pod template's containers."""
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return [",".join(container.get(key, "") for container in containers) for key in ("name", "image")]
