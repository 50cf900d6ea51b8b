"""The health of an object by its conditions: a state, and a word to show beside its symbol."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.ui.object_state_and_row import FAILING, HIDDEN, PAUSED, READY, WAITING, seconds
from crossply.ui.views.short_text import cut
from crossply.values import Object

OK, BAD, UNKNOWN = READY, FAILING, HIDDEN

__all__ = [
    "BAD",
    "OK",
    "PAUSED",
    "UNKNOWN",
    "WAITING",
    "Health",
    "condition_health",
    "conditions_of",
    "package_health",
]


class Health(NamedTuple):
    """A state, the word for it, and why."""

    state: str
    """A state that `ui.object_state_and_row` names: which symbol and colour is shown."""
    word: str
    message: str = ""
    since: float = 0.0
    """In seconds since 1970; 0 where it is not known."""


def package_health(obj: Object) -> Health:
    """Whether a package, or a revision of one, is installed and healthy."""
    conditions = conditions_of(obj)
    for type_, word in (
        ("Installed", "Not installed"),
        ("Healthy", "Unhealthy"),
        ("RuntimeHealthy", "Not running"),
    ):
        condition = conditions.get(type_)
        if condition is not None and condition.get("status") == "False":
            return _unwell(condition, BAD, word)
    known = [
        conditions[type_] for type_ in ("Installed", "Healthy", "RevisionHealthy") if type_ in conditions
    ]
    if known and all(condition.get("status") == "True" for condition in known):
        return Health(OK, "Healthy", since=seconds(known[-1].get("lastTransitionTime")))
    waiting = next((condition for condition in known if condition.get("status") != "True"), {})
    return _unwell(waiting, WAITING, "Waiting")


def condition_health(obj: Object, type_: str, word: str, failure: str) -> Health:
    """The state of one condition: `word` where it is true, `failure` where it is false."""
    condition = conditions_of(obj).get(type_)
    if condition is None:
        return Health(WAITING, "Waiting")
    if condition.get("status") == "True":
        return Health(OK, word, since=seconds(condition.get("lastTransitionTime")))
    if condition.get("status") == "False":
        return _unwell(condition, BAD, failure)
    return _unwell(condition, WAITING, str(condition.get("reason") or "Waiting"))


def conditions_of(obj: Object) -> dict[str, Object]:
    """The well-formed conditions of an object by type."""
    status = obj.get("status")
    conditions: Any = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(conditions, list):
        return {}
    return {str(entry.get("type")): entry for entry in conditions if isinstance(entry, dict)}


def _unwell(condition: Object, state: str, word: str) -> Health:
    message = str(condition.get("message") or condition.get("reason") or "")
    return Health(state, word, cut(message, 500), seconds(condition.get("lastTransitionTime")))
