"""A directory of Go templates as a function: for its author, while it is being written.

It is what the published go-templating is with templates in its image: a step without an input renders them.
They are read at every call, so that an edit counts at once.
"""

from __future__ import annotations

import os
import re

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Response, fatal
from crossply.functions.builtin.go_templating.function import run
from crossply.functions.builtin.go_templating.template_sources import (
    SourceError,
    TemplateFile,
    read_template_files,
)

_INPUT = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline"}
_LINE = re.compile(r"\bmanifests:(\d+)")
"""A line of all templates together, as Go names it."""


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
            files = read_template_files(self._directory, [os.path.realpath(self._directory)])
        except SourceError as problem:
            return fatal(request, f"invalid function input: {problem}")
        text = "".join(file.text for file in files)
        return _with_files(run(request.with_input({**_INPUT, "inline": {"template": text}})), files)

    def close(self) -> None:
        """Nothing was started."""


def _with_files(response: Response, files: list[TemplateFile]) -> Response:
    """The response; what stops the pipeline names lines of files, not of all files together."""

    def in_its_file(match: re.Match[str]) -> str:
        line = int(match.group(1))
        for file in files:
            lines = file.text.count("\n")
            if line <= lines:
                return f"{os.path.relpath(file.path)}:{line}"
            line -= lines
        return match.group(0)

    results = tuple(
        result._replace(message=_LINE.sub(in_its_file, result.message, count=1))
        if result.severity == SEVERITY_FATAL
        else result
        for result in response.results
    )
    return response._replace(results=results)
