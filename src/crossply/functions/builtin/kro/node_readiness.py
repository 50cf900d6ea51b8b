"""Whether a resource is ready: whether it is there, and its `readyWhen` holds.

Conditions see what is observed without its schema, so a time is a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.data import untyped
from crossply.functions.builtin.kro.expression_evaluation import NotReady, evaluate, is_pending, to_boolean
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.nodes import ITEM_VARIABLE, Node, NodeKind
from crossply.values import Object
from crossply.values.goquote import quote

Cached = Callable[[Expression, dict[str, Any]], Any]
"""Evaluates an expression once for all that use it."""

_WAITING = "waiting for readiness"


def check_readiness(node: Node, observed: list[Object], desired: list[Object] | None, cached: Cached) -> None:
    """Raise NotReady unless what is observed of a resource is ready; GraphError where a condition fails."""
    if node.kind.is_list:
        _check_collection(node, observed, desired)
        return
    if not observed:
        raise NotReady(f"node {quote(node.id)}: no observed state: {_WAITING}")
    scope = {node.id: untyped(observed[0])}
    for condition in node.ready_when:
        _check_condition(node, condition, scope, cached)


def _check_condition(node: Node, condition: Expression, scope: dict[str, Any], cached: Cached) -> None:
    shown = quote(condition.shown)
    failed = f"node {quote(node.id)}: failed to evaluate readyWhen expression: {shown}"
    try:
        is_ready = to_boolean(condition, cached(condition, scope))
    except GraphError as error:
        if is_pending(error):
            raise NotReady(f"{failed} ({_WAITING})") from None
        raise GraphError(f"{failed} ({error})") from None
    if not is_ready:
        raise NotReady(f"readyWhen condition evaluated to false: {shown} ({_WAITING})")


def _check_collection(node: Node, observed: list[Object], desired: list[Object] | None) -> None:
    owner = f"node {quote(node.id)}"
    if node.kind is NodeKind.COLLECTION:
        if desired is None:
            raise NotReady(f"{owner}: collection not computed ({_WAITING})")
        if not desired:
            return
        if len(observed) < len(desired):
            counts = f"observed {len(observed)} but desired {len(desired)}"
            raise NotReady(f"{owner}: collection not ready: {counts} ({_WAITING})")
    for index, item in enumerate(observed):
        scope = {ITEM_VARIABLE: untyped(item)}
        for condition in node.ready_when:
            _check_item(node, condition, scope, index)


def _check_item(node: Node, condition: Expression, scope: dict[str, Any], index: int) -> None:
    shown = quote(condition.shown)
    failed = f"node {quote(node.id)}: failed to evaluate readyWhen {shown} (item {index})"
    try:
        value = evaluate(condition, scope)
    except GraphError as error:
        if is_pending(error):
            raise NotReady(f"{failed} ({_WAITING})") from None
        raise GraphError(f"{failed}: {error}") from None
    if not isinstance(value, bool):
        raise GraphError(f"readyWhen {shown} did not return bool")
    if not value:
        raise NotReady(f"readyWhen condition evaluated to false: {shown} ({_WAITING})")
