"""The inputs of built-in functions, decoded as they are when a step runs, and told with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crossply.checking.finding import CheckError, Finding, Place, error
from crossply.functions.builtin.step_input_check import input_problem
from crossply.kinds.composition import NATIVE_FUNCTION, Step
from crossply.manifests.manifest import Manifest
from crossply.validation.line_numbers import line_of, segments

_UNKNOWN = re.compile(r'unknown name "([^"]+)"|unknown field "([^"]+)"')
_PATH = re.compile(r"[A-Za-z][\w-]*(?:\[\d+\]|\.[A-Za-z][\w-]*)+|[a-z]\w+")

Inside = tuple[str | int, ...]


class InvalidInput(CheckError):
    """The input of a step is not one that its function accepts."""

    code = "CP-556"


def input_place(step: Step, index: int) -> Inside:
    """Where in a Composition the input of a step is written."""
    return ("spec",) if step.function == NATIVE_FUNCTION else ("spec", "pipeline", index, "input")


def input_findings(step: Step, index: int, function: str, manifest: Manifest) -> Iterator[Finding]:
    """What a built-in function refuses of a step's input."""
    problem = input_problem(function, step.input)
    if not problem:
        return
    inside = input_place(step, index)
    place = Place(manifest.document.source, line_of(manifest, (*inside, *_field(problem, step.input))))
    message = problem if step.function == NATIVE_FUNCTION else f'step "{step.name}": {problem}'
    hint = f"see the fields of its input: docs/reference/functions/{function}.md"
    yield error(InvalidInput(message, hint="" if step.function == NATIVE_FUNCTION else hint), place)


def _field(problem: str, value: Any) -> Inside:
    """The field of an input that a message is about, as far as it can be found."""
    unknown = _UNKNOWN.search(problem)
    if unknown:
        return next(_with_key(value, unknown[1] or unknown[2]), ())
    paths = [tuple(segments(text, value)) for text in _PATH.findall(problem)]
    return max(paths, key=len, default=())


def _with_key(value: Any, name: str) -> Iterator[Inside]:
    """The paths of the fields of a name."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        if key == name:
            yield (key,)
        for path in _with_key(below, name):
            yield key, *path
