"""Label selectors and containers as texts in cells."""

from __future__ import annotations

from typing import Any

from crossply.values import Object

_OPERATORS = {"In": "in", "NotIn": "notin"}


def labels_text(labels: Any) -> str:
    """Labels as `a=b,c=d`."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels or ())) or "<none>"


def selector_text(selector: Object | None) -> str:
    """A label selector in the words of a query; empty if it selects everything, `<none>` without one."""
    if selector is None:
        return "<none>"
    clauses = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    clauses += [(each.get("key", ""), _clause(each)) for each in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(clauses, key=lambda clause: clause[0]))


def _clause(expression: Object) -> str:
    key, operator = expression.get("key", ""), expression.get("operator", "")
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    return f"{key} {_OPERATORS.get(operator, operator)} ({','.join(sorted(expression.get('values') or ()))})"


def selector_or_none(selector: Object | None) -> str:
    """A label selector, `<none>` if it selects everything."""
    return selector_text(selector) or "<none>"


def container_cells(template: Object | None) -> list[str]:
    """The names and the images of a Pod template's containers."""
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return [",".join(each.get(key, "") for each in containers) for key in ("name", "image")]
