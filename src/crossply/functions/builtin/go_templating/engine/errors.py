"""Errors of templates, with the location in the template. The messages are those of Go."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from crossply.functions.builtin.go_templating.engine.nodes import Expression, Tree
from crossply.values.goquote import quote


class TemplateError(Exception):
    """A template cannot be parsed or rendered. It never leaves the function: it becomes a fatal result."""


class ParseError(TemplateError):
    """The text is no valid template."""


class ExecError(TemplateError):
    """A template fails during a render."""


class OptionError(TemplateError):
    """An option of the template is unknown."""


class ErrorSite(Protocol):
    """A location in a template that errors refer to."""

    def error(self, message: str) -> ExecError:
        """Go's ExecError: location, template, node and message."""
        ...


class Site(NamedTuple):
    """A node of a template."""

    tree: Tree
    node: Expression

    def error(self, message: str) -> ExecError:
        """Go's ExecError: location, template, node and message."""
        place = self.tree.source.place(self.node.at)
        return ExecError(f"template: {place}: executing {quote(self.tree.name)} at <{self.node}>: {message}")


class LastEvaluated:
    """The operand that was evaluated last, when not all are."""

    __slots__ = ("_sites", "at")

    def __init__(self, sites: tuple[ErrorSite, ...]) -> None:
        self._sites = sites
        self.at = 0
        """The index of the operand. Concurrent renders share it: at worst an error shows another location."""

    def error(self, message: str) -> ExecError:
        return self._sites[self.at].error(message)
