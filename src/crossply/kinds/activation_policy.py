"""Which ManagedResourceDefinitions a ManagedResourceActivationPolicy activates; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from crossply.values import Object
from crossply.values.goglob import glob_pattern


def activates(policy: Object, name: str) -> bool:
    """Whether a policy activates the definition of a name."""
    return any(_matches(pattern, name) for pattern in _patterns(policy))


def activated_by(policy: Object, names: Iterable[str]) -> list[str]:
    """The names that a policy activates, sorted."""
    return sorted(name for name in names if activates(policy, name))


def _patterns(policy: Object) -> list[str]:
    return [str(pattern) for pattern in (policy.get("spec") or {}).get("activate") or ()]


def _matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for what is no pattern: it matches nothing."""
    try:
        return glob_pattern(pattern)
    except ValueError:
        return None
