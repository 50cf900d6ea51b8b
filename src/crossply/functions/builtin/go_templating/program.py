"""Compiled templates, cached by their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating import extra_functions, sprig
from crossply.functions.builtin.go_templating.engine import builtin_functions as builtins
from crossply.functions.builtin.go_templating.engine.compile_scope import Scope
from crossply.functions.builtin.go_templating.engine.errors import ExecError, OptionError, ParseError
from crossply.functions.builtin.go_templating.engine.limits import MAX_TEMPLATE, Budget, LimitExceeded
from crossply.functions.builtin.go_templating.engine.nodes import Source, Tree
from crossply.functions.builtin.go_templating.engine.parser import parse
from crossply.functions.builtin.go_templating.engine.render_state import (
    MISSING_DEFAULT,
    MISSING_ERROR,
    MISSING_ZERO,
    Render,
    Template,
)
from crossply.functions.builtin.go_templating.engine.signatures import Function
from crossply.functions.builtin.go_templating.engine.statements import body

NAME = "manifests"
"""The name of the template in the published function, which errors show."""

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
    """The template to render."""

    def render(self, data: Any, options: tuple[str, ...] = (), budget: Budget | None = None) -> str:
        """Render the templates with the data."""
        render = Render(self.name, self.templates, missing_key(options), budget or Budget())
        try:
            return render.main(data)
        except LimitExceeded as error:
            raise ExecError(f"template: {self.name}: {error}") from None
        except RecursionError:
            # Only when the caller is near the limit: the depth of templates is counted.
            raise ExecError(f"template: {self.name}: templates nest too deep") from None


@lru_cache(maxsize=128)
def compile_text(text: str, left: str = "", right: str = "") -> Program:
    """Compile a text; raises ParseError."""
    return compile_source(Source(NAME, text), FUNCTIONS, left, right)


def compile_source(
    source: Source,
    functions: Mapping[str, Function],
    left: str = "",
    right: str = "",
    scope_of: Callable[[Tree, Mapping[str, Function]], Scope] = Scope,
) -> Program:
    """Compile a template with another name and its own functions; raises ParseError."""
    name, text = source.name, source.text
    if len(text) > MAX_TEMPLATE:
        raise ParseError(f"template: {name}: text is longer than {MAX_TEMPLATE} characters")
    try:
        trees = parse(source, left, right, functions)
        return Program({key: _compiled(scope_of(tree, functions), tree) for key, tree in trees.items()}, name)
    except RecursionError:
        # Only when the caller is near the limit: the depth of a template is limited.
        raise ParseError(f"template: {name}: templates nest too deep") from None


def _compiled(scope: Scope, tree: Tree) -> Template:
    run = scope.on_template(body(scope, tree.body))
    return Template(tree.name, run, scope.slots, scope.height)


def missing_key(options: tuple[str, ...]) -> str:
    """The handling of missing keys; the last option wins."""
    chosen = MISSING_DEFAULT
    for option in options:
        key, _, value = option.partition("=")
        if not option:
            raise OptionError("empty option string")
        if key != "missingkey" or value not in _MISSING:
            raise OptionError(f"unrecognized option: {option}")
        chosen = _MISSING[value]
    return chosen


FUNCTIONS: dict[str, Function] = {**builtins.FUNCTIONS, **extra_functions.FUNCTIONS, **sprig.FUNCTIONS}
