"""A text compiled into templates, and kept for the next time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.errors import ExecError, OptionError, ParseError
from crossply.functions.builtin.go_templating.function_map import FUNCTIONS
from crossply.functions.builtin.go_templating.limits import MAX_TEMPLATE, Budget, TooLarge
from crossply.functions.builtin.go_templating.nodes import Source, Tree
from crossply.functions.builtin.go_templating.parser import parse
from crossply.functions.builtin.go_templating.rendering import (
    MISSING_DEFAULT,
    MISSING_ERROR,
    MISSING_ZERO,
    Render,
    Template,
)
from crossply.functions.builtin.go_templating.scope import Scope
from crossply.functions.builtin.go_templating.signatures import Function
from crossply.functions.builtin.go_templating.statements import body

NAME = "manifests"
"""What the published function calls its template; errors show it."""

_MISSING = {
    "invalid": MISSING_DEFAULT,
    "default": MISSING_DEFAULT,
    "zero": MISSING_ZERO,
    "error": MISSING_ERROR,
}


class Program(NamedTuple):
    """Compiled templates by name."""

    templates: dict[str, Template]
    name: str = NAME
    """The one that is rendered."""

    def render(self, data: Any, options: tuple[str, ...] = (), budget: Budget | None = None) -> str:
        """The text that the templates make of the data."""
        render = Render(self.name, self.templates, missing_key(options), budget or Budget())
        try:
            return render.main(data)
        except TooLarge as problem:
            raise ExecError(f"template: {self.name}: {problem}") from None
        except RecursionError:
            # Only when the caller itself stands near the limit: a template's depth is counted.
            raise ExecError(f"template: {self.name}: templates nest too deep") from None


@lru_cache(maxsize=128)
def compile_text(text: str, left: str = "", right: str = "") -> Program:
    """Read and compile a text; ParseError says what is wrong with it."""
    return compile_source(Source(NAME, text), FUNCTIONS, left, right)


def compile_source(
    source: Source, functions: Mapping[str, Function], left: str = "", right: str = ""
) -> Program:
    """The same for a template with another name, and with functions of its own."""
    name, text = source.name, source.text
    if len(text) > MAX_TEMPLATE:
        raise ParseError(f"template: {name}: text is longer than {MAX_TEMPLATE} characters")
    try:
        trees = parse(source, left, right, functions)
        return Program({key: _compiled(tree, functions) for key, tree in trees.items()}, name)
    except RecursionError:
        # Only when the caller itself stands near the limit: the depth of a template is bounded.
        raise ParseError(f"template: {name}: templates nest too deep") from None


def _compiled(tree: Tree, functions: Mapping[str, Function]) -> Template:
    scope = Scope(tree, functions)
    run = body(scope, tree.body)
    return Template(tree.name, run, scope.slots, scope.height)


def missing_key(options: tuple[str, ...]) -> str:
    """What to do about keys that maps do not have; the last option that says so counts."""
    chosen = MISSING_DEFAULT
    for option in options:
        key, _, value = option.partition("=")
        if not option:
            raise OptionError("empty option string")
        if key != "missingkey" or value not in _MISSING:
            raise OptionError(f"unrecognized option: {option}")
        chosen = _MISSING[value]
    return chosen
