"""A directory of Go templates as a function: for its author, while it is being written.

It is what the published go-templating is with templates in its image: a step without an input renders them.
They are read at every call, so that an edit counts at once.
"""

from __future__ import annotations

import os

from crossply.compose.messages import Request, Response, fatal
from crossply.functions.builtin.go_templating.function import run
from crossply.functions.builtin.go_templating.sources import SourceError, read_templates

_INPUT = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}


class TemplatesDirectory:
    """The templates of a directory."""

    __slots__ = ("_directory",)

    def __init__(self, directory: str) -> None:
        self._directory = os.path.abspath(directory)

    def __call__(self, request: Request, timeout: float) -> Response:
        """Render the templates as they are now, unless the step has its own."""
        if request.input is not None:
            return run(request)
        try:
            text = read_templates(self._directory, [os.path.realpath(self._directory)])
        except SourceError as problem:
            return fatal(request, f"invalid function input: {problem}")
        return run(request.with_input({**_INPUT, "inline": {"template": text}}))

    def close(self) -> None:
        """Nothing was started."""
