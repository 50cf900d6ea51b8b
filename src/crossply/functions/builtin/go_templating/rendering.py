"""One render: what the compiled pieces of a template share while they run.

Templates may render themselves a thousand levels deep, and each level takes several Python frames. Python
counts frames by thread; so when one thread has had its share, the next level runs in a new one, and this
one waits. Nothing global is changed, and the depth that templates reach does not depend on the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.errors import ExecError
from crossply.functions.builtin.go_templating.limits import MAX_TEMPLATE_DEPTH, Budget, TooLarge
from crossply.functions.builtin.go_templating.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.values import NO_VALUE
from crossply.values.goquote import quote

MISSING_DEFAULT, MISSING_ZERO, MISSING_ERROR = "default", "zero", "error"

_FRAMES_PER_THREAD = 400
"""Less than half of what Python allows: the caller has used some."""


class Frame:
    """One template while it runs: its variables, and where its text goes.

    `typed` says that the innermost range goes over items of a known type, which Go does not box.
    """

    __slots__ = ("budget", "keep", "missing", "render", "typed", "variables")

    def __init__(self, render: Render, keep: Callable[[str], None], variables: list[Any]) -> None:
        self.render = render
        self.keep = keep
        self.variables = variables
        self.budget = render.budget
        self.missing = render.missing
        self.typed = False


Run = Callable[[Frame, Any], None]
"""A compiled statement: it is given the frame and the dot."""

Evaluate = Callable[[Frame, Any], Any]
"""A compiled expression."""


class Template(NamedTuple):
    """A compiled template: how many variables it has, and how many Python frames it nests at most."""

    name: str
    run: Run
    variables: int
    height: int


class Render:
    """Renders templates of one program; made for one render and thrown away."""

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
        """The text of the main template."""
        return self._text(self._templates[self._name], data)

    def find(self, name: str) -> Template | None:
        """A template by name."""
        return self._templates.get(name)

    def is_too_deep(self) -> bool:
        """Whether no further template may be rendered from here."""
        return self._depth >= MAX_TEMPLATE_DEPTH

    def include(self, name: str, data: Any) -> str:
        """What the template function `include` does: render a template to a string."""
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

    def run(self, template: Template, keep: Callable[[str], None], dot: Any) -> None:
        """Render a template to where its caller's text goes; it sees nothing of the caller's variables."""
        # A nil that is handed over counts as nothing at all.
        dot = NO_VALUE if dot is None else dot
        frame = Frame(self, keep, [dot, *[NO_VALUE] * template.variables])
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
    """Run with a fresh count of Python frames, and wait for it."""
    from threading import Thread

    problems: list[BaseException] = []

    def work() -> None:
        try:
            run(frame, dot)
        except BaseException as problem:  # noqa: BLE001 - raised again by the thread that waits
            problems.append(problem)

    thread = Thread(target=work, name="template", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise TooLarge("templates nest deeper than this machine has threads for") from None
    thread.join()
    if problems:
        raise problems[0]
