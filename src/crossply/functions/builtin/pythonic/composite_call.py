"""One call of a composite class: it composes, and then the response is completed."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutine
from typing import Any

from crossply.functions.builtin.pythonic.constructors import value_of
from crossply.functions.builtin.pythonic.unknowns import settle_unknowns
from crossply.functions.builtin.pythonic.usages import add_usages

_STATE = "_pythonic"
"""The key of the context with the requirements of each step, by its name."""


def compose(composite: Any, step: str, run_coroutine: Callable[[Any], None]) -> None:
    """Compose, and complete the response unless the caller has to fetch something first."""
    state = composite.context[_STATE][step]
    iteration = int(state.iteration) + 1
    state.iteration = iteration
    composite.context.iteration = iteration
    running = composite.compose()
    if iscoroutine(running):
        run_coroutine(running)
    if _asks_for_more(state, composite):
        return
    add_usages(composite)
    settle_unknowns(composite)
    for _, resource in composite.resources:
        _ = resource.ready  # decides it


def _asks_for_more(state: Any, composite: Any) -> bool:
    """Whether the program asks for something else than in its last call. What it asks for is kept."""
    asks = False
    for kind, selectors in (("schemas", composite.schemas), ("requireds", composite.requireds)):
        for name, selected in selectors:
            if len(selected.kind) and len(selected.apiVersion):
                selector = value_of(_selector(selected))
                if selector != state[kind][name]:
                    state[kind][name] = selector
                    asks = True
    return asks


def _selector(selected: Any) -> dict[str, Any]:
    selector = {"kind": selected.kind, "apiVersion": selected.apiVersion}
    for name in ("namespace", "matchName"):
        if len(getattr(selected, name, ())):
            selector[name] = getattr(selected, name)
    labels = {key: value for key, value in getattr(selected, "matchLabels", ())}  # noqa: C416
    return {**selector, "matchLabels": labels} if labels else selector
