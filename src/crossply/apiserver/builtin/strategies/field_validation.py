"""Field checks that many kinds share, with Kubernetes' sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from crossply.apiserver.registry.name_validation import label_value_problems, qualified_name_problems
from crossply.apiserver.registry.selectors import labels_match, read_label_selector
from crossply.schema.field_errors import (
    DUPLICATE,
    FORBIDDEN,
    INVALID,
    REQUIRED,
    FieldError,
    unsupported,
)
from crossply.values import Object

IMMUTABLE = "field is immutable"
_PERCENT = re.compile(r"[0-9]+%")
_PERCENT_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex "
    "used for validation is '[0-9]+%')"
)
_SET_OPERATORS = ("In", "NotIn")


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(INVALID, path, value, detail)


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(REQUIRED, path, "", detail)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(FORBIDDEN, path, "", detail)


def duplicate(path: str, value: Any) -> FieldError:
    return FieldError(DUPLICATE, path, value, "")


def one_of(path: str, value: Any, allowed: Iterable[str]) -> list[FieldError]:
    choices = list(allowed)
    return [] if value in choices else [unsupported(path, value, choices)]


def problems_at(path: str, value: str, problems: Iterable[str]) -> list[FieldError]:
    """The problems of a name as field errors."""
    return [invalid(path, value, problem) for problem in problems]


def not_negative(obj: Object, path: str, *keys: str) -> list[FieldError]:
    """Numbers that must not be negative, if they are set."""
    return [
        invalid(f"{path}.{key}", obj[key], "must be greater than or equal to 0")
        for key in keys
        if isinstance(obj.get(key), int) and obj[key] < 0
    ]


def immutable(new: Any, old: Any, path: str) -> list[FieldError]:
    return [] if new == old else [invalid(path, new, IMMUTABLE)]


def count_or_percent(value: Any, path: str) -> list[FieldError]:
    """A number or a percentage."""
    if isinstance(value, str):
        return [] if _PERCENT.fullmatch(value) else [invalid(path, value, _PERCENT_RULE)]
    if isinstance(value, int) and value < 0:
        return [invalid(path, value, "must be greater than or equal to 0")]
    return []


def at_most_all(value: Any, path: str) -> list[FieldError]:
    """A percentage of at most 100."""
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) > 100:
        return [invalid(path, value, "must not be greater than 100%")]
    return []


def label_selector(selector: Object | None, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if selector is None:
        return errors
    for key, value in (selector.get("matchLabels") or {}).items():
        errors += problems_at(f"{path}.matchLabels", key, qualified_name_problems(key))
        errors += problems_at(f"{path}.matchLabels", value, label_value_problems(value))
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        errors += _expression(expression, f"{path}.matchExpressions[{index}]")
    return errors


def _expression(expression: Object, path: str) -> list[FieldError]:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    errors: list[FieldError] = []
    if operator in _SET_OPERATORS:
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", detail))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = expression.get("key", "")
    errors += problems_at(f"{path}.key", key, qualified_name_problems(key))
    for index, value in enumerate(values):
        errors += problems_at(f"{path}.values[{index}]", value, label_value_problems(value))
    return errors


def is_selector(selector: Object | None) -> bool:
    """Whether a label selector is valid; the absence of one selects nothing, which is valid."""
    return all(
        (expression.get("operator") in _SET_OPERATORS and expression.get("values"))
        or (expression.get("operator") in ("Exists", "DoesNotExist") and not expression.get("values"))
        for expression in (selector or {}).get("matchExpressions") or ()
    )


def selects(selector: Object, labels: Object) -> bool:
    """Whether a valid label selector selects an object with these labels."""
    return labels_match(read_label_selector(selector) or (), labels)


__all__ = [
    "IMMUTABLE",
    "at_most_all",
    "count_or_percent",
    "duplicate",
    "forbidden",
    "immutable",
    "invalid",
    "is_selector",
    "label_selector",
    "not_negative",
    "one_of",
    "problems_at",
    "required",
    "selects",
]
