"""The state of one render, shared by the compiled pieces of its templates.

Templates may nest a thousand levels deep, and each level takes several Python frames. Python limits frames
per thread, so a level that exceeds the share of a thread runs in a new thread, while this one waits. No
global limit is changed, and the possible depth does not depend on the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.errors import ExecError
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE
from crossply.functions.builtin.go_templating.engine.limits import MAX_TEMPLATE_DEPTH, Budget, LimitExceeded
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.values.goquote import quote

MISSING_DEFAULT, MISSING_ZERO, MISSING_ERROR = "default", "zero", "error"

_FRAMES_PER_THREAD = 400
"""Less than half of Python's limit: the caller uses some."""


class Frame:
    """One running template: its variables and its output.

    `typed`: the innermost range iterates over items of a known type, which Go does not box.
    """

    __slots__ = ("budget", "missing", "render", "typed", "variables", "write_text")

    def __init__(self, render: Render, write_text: Callable[[str], None], variables: list[Any]) -> None:
        self.render = render
        self.write_text = write_text
        self.variables = variables
        self.budget = render.budget
        self.missing = render.missing
        self.typed = False


Run = Callable[[Frame, Any], None]
"""A compiled statement, called with the frame and the dot."""

Evaluate = Callable[[Frame, Any], Any]
"""A compiled expression."""


class Template(NamedTuple):
    """A compiled template. `height` is the number of Python frames that it nests at most."""

    name: str
    run: Run
    variables: int
    height: int


class Render:
    """One render of a program."""

    __slots__ = ("_depth", "_height", "_included", "_name", "_templates", "budget", "missing")

    def __init__(self, name: str, templates: dict[str, Template], missing: str, budget: Budget) -> None:
        self._name = name
        self._templates = templates
        self._included: dict[str, int] = {}
        self._depth = 0
        self._height = 0
        self.missing = missing
        self.budget = budget

    def main(self, data: Any) -> str:
        return self._text(self._templates[self._name], data)

    def find(self, name: str) -> Template | None:
        return self._templates.get(name)

    def is_too_deep(self) -> bool:
        """Whether the maximum depth of templates is reached."""
        return self._depth >= MAX_TEMPLATE_DEPTH

    def include(self, name: str, data: Any) -> str:
        """The template function `include`: render a template to a string."""
        nested = self._included.get(name, 0)
        if nested > MAX_TEMPLATE_DEPTH:
            raise FunctionFailed(
                f"rendering template has a nested reference name: {name}: unable to execute template"
            )
        template = self._templates.get(name)
        if template is None:
            raise FunctionFailed(
                f"template: no template {quote(name)} associated with template {quote(self._name)}"
            )
        self._included[name] = nested + 1
        try:
            return self._text(template, data)
        except ExecError as error:
            raise FunctionFailed(str(error)) from None
        finally:
            self._included[name] = nested

    def _text(self, template: Template, data: Any) -> str:
        parts: list[str] = []
        self.run(template, parts.append, data)
        return "".join(parts)

    def run(self, template: Template, write_text: Callable[[str], None], dot: Any) -> None:
        """Render a template into the output of its caller; it does not see the caller's variables."""
        # A nil argument counts as no value.
        dot = NO_VALUE if dot is None else dot
        frame = Frame(self, write_text, [dot, *[NO_VALUE] * template.variables])
        before = self._height
        self._depth += 1
        try:
            if before + template.height > _FRAMES_PER_THREAD:
                self._height = template.height
                _in_new_thread(template.run, frame, dot)
            else:
                self._height = before + template.height
                template.run(frame, dot)
        finally:
            self._depth -= 1
            self._height = before


def _in_new_thread(run: Run, frame: Frame, dot: Any) -> None:
    """Run in a new thread, which has its own limit of Python frames, and wait for it."""
    from threading import Thread

    problems: list[BaseException] = []

    def work() -> None:
        try:
            run(frame, dot)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            problems.append(error)

    thread = Thread(target=work, name="template", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise LimitExceeded("templates nest deeper than this machine has threads for") from None
    thread.join()
    if problems:
        raise problems[0]
