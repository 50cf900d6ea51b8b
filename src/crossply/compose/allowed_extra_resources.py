"""Which resources a step lets its function ask for: its `allowedExtraResources`."""

from __future__ import annotations

from crossply.compose.function_messages import ResourceSelector
from crossply.kinds.composition import ExtraResourceRule, Step


def is_allowed(step: Step, selector: ResourceSelector) -> bool:
    """Whether the function of a step may ask for these resources."""
    rules = step.allowed_extra_resources
    return rules is None or any(_allows(rule, selector) for rule in rules)


def _allows(rule: ExtraResourceRule, selector: ResourceSelector) -> bool:
    """Whether a rule covers all that the selector can select."""
    if (rule.api_version, rule.kind) != (selector.api_version, selector.kind):
        return False
    if rule.match_name is not None:
        return selector.match_name is not None and _matches(rule.match_name, selector.match_name)
    if rule.match_labels is not None:
        requested = selector.match_labels or {}
        return all(
            key in requested and _matches(pattern, requested[key])
            for key, pattern in rule.match_labels.items()
        )
    return True


def _matches(pattern: str, text: str) -> bool:
    if pattern == "*":
        return True
    from crossply.values.regexp import compile_go

    return compile_go(f"^(?:{pattern})$").search(text) is not None
