"""YAML errors, with the messages of Go's parser.

libyaml and its Go port share the problem texts but not the line numbers: Go's port counts from zero in
parser errors, from one in scanner errors, and leaves the line out when it would be zero.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values.yaml.limits import MAX_DEPTH, MAX_NODES


class YamlError(CrossplyError):
    """The text is not YAML that Kubernetes would read, or the value cannot be written as YAML."""

    code = "CP-130"
    hint = "check the indentation, quotes and brackets near this line"


class SeparatorError(YamlError):
    """A line starts with `---` but continues with something other than a comment."""

    code = "CP-131"
    hint = "put the document on the line after the separator"


class LimitError(YamlError):
    """The text is larger, deeper or has more nodes than any real manifest."""

    code = "CP-132"
    hint = "split the file, or check that it is the one you meant"


def too_deep(line: int) -> LimitError:
    """Refuse nesting; `line` is zero-based and counts from the start of the document."""
    return LimitError(f"yaml: line {line + 1}: exceeded max depth of {MAX_DEPTH}", place=str(line))


def too_many_nodes(line: int) -> LimitError:
    """Refuse a stream with more nodes than any real one."""
    return LimitError(f"yaml: line {line + 1}: exceeded {MAX_NODES} nodes", place=str(line))


def from_libyaml(error: Any, first_line: int, source: str) -> YamlError:
    """Translate an error of PyYAML's C parser into Go's."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    number = _go_line(error)
    prefix = f"line {number}: " if number else ""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = first_line + (mark.line if mark is not None else 0)
    is_binary = type(error).__name__ == "ReaderError"
    hint = "this is no text in UTF-8: check that it is the file you meant" if is_binary else ""
    return YamlError(f"yaml: {prefix}{problem}", place=place(source, line), hint=hint)


def _go_line(error: Any) -> int:
    problem_mark = getattr(error, "problem_mark", None)
    if problem_mark is not None and problem_mark.line:
        is_scanner = type(error).__name__ == "ScannerError"
        return int(problem_mark.line) + (1 if is_scanner else 0)
    context_mark = getattr(error, "context_mark", None)
    return int(context_mark.line) if context_mark is not None else 0


def place(source: str, line: int) -> str:
    """Name a line of a file, or only the line when the text came from nowhere in particular."""
    return f"{source}:{line}" if source else f"line {line}"
