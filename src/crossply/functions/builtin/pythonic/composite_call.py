"""One call of a composite class: it composes, and then the response is completed.

Of resources with unknown values, those that do not exist yet wait, and others keep what was observed.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutine
from typing import Any

from crossply.functions.builtin.pythonic.constructors import value_of
from crossply.functions.builtin.pythonic.origins import fill_unknowns, unknowns
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
    _settle_unknowns(composite)
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


def _settle_unknowns(composite: Any) -> None:
    """Complete or withhold the resources with unknown values, and say so in a condition and a result."""
    waiting, incomplete, fatal = [], [], []
    for name, resource in list(composite.resources):
        if next(unknowns(resource.desired), None) is None:
            continue
        waiting.append(name)
        if not resource.observed:
            del composite.resources[name]
            continue
        incomplete.append(name)
        if composite.unknownsFatal if resource.unknownsFatal is None else resource.unknownsFatal:
            fatal.append(name)
        fill_unknowns(resource.desired, resource.observed)
    _report(composite, waiting, incomplete, fatal)


def _report(composite: Any, waiting: list[str], incomplete: list[str], fatal: list[str]) -> None:
    if not waiting:
        composite.conditions.ResourcesComposed("AllComposed", "All resources are composed", True)
        return
    if fatal:
        reason, names, result = "FatalUnknowns", fatal, composite.results.fatal
    elif incomplete:
        reason, names, result = "ObservedUnknowns", incomplete, composite.results.warning
    else:
        reason, names, result = "DesiredUnknowns", waiting, composite.results.info
    state = "Observed" if incomplete else "Desired"
    message = f"{state} resources with unknowns: {','.join(names)}"
    composite.conditions.ResourcesComposed(reason, message, False)
    result(reason, message)
