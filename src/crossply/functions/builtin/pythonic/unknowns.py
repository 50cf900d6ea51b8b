"""Resources with unknown values: those that do not exist yet wait, others keep what was observed."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.pythonic.origins import fill_unknowns, unknowns


def settle_unknowns(composite: Any) -> None:
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
