"""What a hook that applies writes: conditions and events, with captured texts in their messages."""

from __future__ import annotations

from crossply.compose.messages import (
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Result,
)
from crossply.functions.builtin.go_templating.errors import ExecError, ParseError
from crossply.functions.builtin.go_templating.limits import Budget
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.status_transformer.matching import Groups
from crossply.values import Object

_STATUSES = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SEVERITIES = {"Normal": SEVERITY_NORMAL, "Warning": SEVERITY_WARNING}
_SECONDS = 2.0
"""How long the messages of one step may take to write."""


class OutcomeError(Exception):
    """A condition or event cannot be written. It never leaves the function: it becomes a condition."""


class Writer:
    """Writes the messages of one step; all of them share one budget."""

    __slots__ = ("_budget",)

    def __init__(self) -> None:
        self._budget = Budget(_SECONDS)

    def condition(self, given: Object, groups: Groups) -> Condition:
        """The condition that a hook sets."""
        said = given.get("condition", {})
        status = _STATUSES.get(said.get("status", ""), STATUS_UNKNOWN)
        message = self._message(said.get("message"), groups)
        return Condition(said.get("type", ""), status, said.get("reason", ""), message, _target(given))

    def event(self, given: Object, groups: Groups) -> Result:
        """The event that a hook creates."""
        said = given.get("event", {})
        kind = said.get("type", "Normal")
        if kind not in _SEVERITIES:
            raise OutcomeError(f"invalid type {kind}, must be one of [Normal, Warning]")
        message = self._message(said.get("message"), groups) or ""
        return Result(_SEVERITIES[kind], message, said.get("reason"), _target(given))

    def _message(self, text: str | None, groups: Groups) -> str | None:
        """A message is a template only where there is something to put into it."""
        if text is None or not groups:
            return text
        try:
            return compile_text(text).render(groups, (), self._budget)
        except ParseError as error:
            raise OutcomeError(f"cannot parse template: {_unnamed(error)}") from None
        except ExecError as error:
            raise OutcomeError(f"cannot execute template: {_unnamed(error)}") from None


def _target(given: Object) -> int:
    return TARGET_COMPOSITE_AND_CLAIM if given.get("target") == "CompositeAndClaim" else TARGET_COMPOSITE


def _unnamed(error: Exception) -> str:
    """An error of a template that has no name of its own."""
    return str(error).replace("template: manifests:", "template: :", 1)
