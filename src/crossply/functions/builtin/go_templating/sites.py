"""Where in a template something happens, for the errors that say so."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from crossply.functions.builtin.go_templating.errors import ExecError
from crossply.functions.builtin.go_templating.nodes import Expression, Tree
from crossply.values.goquote import quote


class Place(Protocol):
    """Where something happened."""

    def error(self, message: str) -> ExecError:
        """What Go's ExecError says: place, template, node, and what is wrong."""
        ...


class Site(NamedTuple):
    """A node of a template."""

    tree: Tree
    node: Expression

    def error(self, message: str) -> ExecError:
        """What Go's ExecError says: place, template, node, and what is wrong."""
        place = self.tree.source.place(self.node.at)
        return ExecError(f"template: {place}: executing {quote(self.tree.name)} at <{self.node}>: {message}")


class LastOf:
    """The operand that was evaluated last, of some that need not all be."""

    __slots__ = ("_sites", "at")

    def __init__(self, sites: tuple[Place, ...]) -> None:
        self._sites = sites
        self.at = 0
        """Which one. Renders at the same time share it: at worst an error tells the place of another one."""

    def error(self, message: str) -> ExecError:
        """What is wrong, where it was evaluated."""
        return self._sites[self.at].error(message)
