"""Parses the values of flags and arguments by their kinds, with kong's messages for invalid ones.

Second half of the parser: `parser` decides which flag or argument a word belongs to, this module reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from crossply.cli.framework.command import Flag, UsageError

LONGEST_NUMBER = 19
"""The digits of a 64-bit number: more cannot be a value, and reading very many would take long."""

LIST_KINDS = {"strings": "string", "existing-files": "existing-file", "paths": "path"}
"""Kinds that collect values, each with the kind of one of them."""

PLACEHOLDERS = {
    "int": "int",
    "duration": "duration",
    "existing-file": "file",
    "existing-dir": "file",
    "path": "file",
}
"""What kong calls the value of a kind when it misses one."""


def quote(text: str) -> str:
    """Quote a word as Go's %q does."""
    # Only messages need it: what goes well does not import it.
    from crossply.values.goquote import quote as quote_as_go

    return quote_as_go(text)


def split_escaped(text: str, separator: str) -> list[str]:
    r"""Split at a separator unless a backslash precedes it; no separator means one value."""
    if not separator:
        return [text]
    parts: list[str] = []
    part = ""
    escaped = False
    for position, char in enumerate(text):
        if escaped:
            part += char if char == separator else "\\" + char
            escaped = False
        elif char == "\\" and position < len(text) - 1:
            escaped = True
        elif char == separator:
            parts.append(part)
            part = ""
        else:
            part += char
    if part:
        parts.append(part)
    return parts


def read_bool(text: str) -> bool:
    """Read the value of `--flag=value` for a flag that needs none."""
    word = text.lower()
    if word in ("true", "1", "yes"):
        return True
    if word in ("false", "0", "no"):
        return False
    raise ValueError(f"bool value must be true, 1, yes, false, 0 or no but got {quote(word)}")


def read_int(text: str) -> int:
    """Read a decimal integer of 64 bits."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    significant = digits.lstrip("0") or "0"
    value = (
        int(significant)
        if digits.isascii() and digits.isdigit() and len(significant) <= LONGEST_NUMBER
        else 2**64
    )
    value = -value if text[:1] == "-" else value
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"expected a valid 64 bit int but got {quote(text)}")
    return value


def read_duration(text: str) -> float:
    """Read a Go duration such as 1m30s; the value is in seconds."""
    from crossply.values.durations import parse_duration

    try:
        return parse_duration(text) / 10**9
    except ValueError as problem:
        raise ValueError(f"expected duration but got {quote(text)}: {problem}") from None


class PathProblem(ValueError):
    """A value is a path, but not of what is needed."""

    def __init__(self, sentence: str, path: str) -> None:
        super().__init__(sentence)
        self.path = path


def read_path(text: str) -> str:
    """Make a path absolute and resolve a leading ~/; "-" stands for a standard stream and stays."""
    if text == "-":
        return text
    if text.startswith("~/"):
        text = os.path.join(os.path.expanduser("~"), text[2:])
    return os.path.abspath(text)


def read_existing_file(text: str) -> str:
    """Read the path of a file that must exist."""
    path = read_path(text)
    if path != "-" and _is_directory(path):
        raise PathProblem(f"{quote(path)} exists but is a directory", path)
    return path


def read_existing_dir(text: str) -> str:
    """Read the path of a directory that must exist."""
    path = read_path(text)
    if not _is_directory(path):
        raise PathProblem(f"{quote(path)} exists but is not a directory", path)
    return path


def _is_directory(path: str) -> bool:
    import stat

    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "invalid argument"
        raise PathProblem(f"stat {path}: {(reason or 'unknown error').lower()}", path) from None


READERS: dict[str, Callable[[str], Any]] = {
    "bool": read_bool,
    "int": read_int,
    "duration": read_duration,
    "existing-file": read_existing_file,
    "existing-dir": read_existing_dir,
    "path": read_path,
}


def read_value(kind: str, text: str) -> Any:
    """Read one value of a kind; a string is itself."""
    reader = READERS.get(kind)
    return reader(text) if reader else text


def read_flag(flag: Flag, text: str, before: Any) -> Any:
    """Parse the value of a flag; lists and maps extend the value `before`."""
    if flag.kind == "map":
        return {**(before or {}), **_pairs(flag, text)}
    read = flag.parse or (lambda word: read_value(LIST_KINDS.get(flag.kind, flag.kind), word))
    if flag.kind in LIST_KINDS:
        return [*(before or ()), *(read(word) for word in split_escaped(text, flag.separator))]
    return read(text)


def _pairs(flag: Flag, text: str) -> dict[str, Any]:
    pairs = {}
    for word in split_escaped(text, flag.separator):
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f'expected "<key>=<value>" but got {quote(word)}')
        pairs[key] = flag.parse(value) if flag.parse else value
    return pairs


def default_of(flag: Flag) -> Any:
    """The value of a flag that was not set."""
    if flag.kind == "bool":
        return bool(flag.default)
    if flag.kind == "map":
        return dict(flag.default or {})
    if flag.kind in LIST_KINDS:
        return list(flag.default or ())
    if isinstance(flag.default, str):
        return read_flag(flag, flag.default, None)
    return flag.default


def parse_address(text: str) -> tuple[str, int]:
    """The host and port of `--listen`; raises UsageError."""
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port[:6]) > 65535:
        raise UsageError(f'--listen: expected HOST:PORT but got "{text}"')
    if not host:
        raise UsageError(f"--listen: name the address, such as 127.0.0.1{text}, or 0.0.0.0{text} for all")
    return host.strip("[]"), int(port)
