"""Where in a template something happens, for the errors that say so."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.go_templating.errors import ExecError
from crossply.functions.builtin.go_templating.nodes import Expression, Tree
from crossply.values.goquote import quote


class Site(NamedTuple):
    """A node of a template."""

    tree: Tree
    node: Expression

    def error(self, message: str) -> ExecError:
        """What Go's ExecError says: place, template, node, and what is wrong."""
        place = self.tree.source.place(self.node.at)
        return ExecError(f"template: {place}: executing {quote(self.tree.name)} at <{self.node}>: {message}")
