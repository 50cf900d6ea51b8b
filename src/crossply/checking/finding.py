"""What a check finds: something wrong at a line of a file, how bad it is, and what to do about it."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError

ERROR, WARNING = "error", "warning"


class Finding(NamedTuple):
    """One thing that is wrong."""

    level: str
    file: str
    line: int
    message: str
    code: str = ""
    hint: str = ""


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class CheckError(CrossplyError):
    """Something in a repository would fail, or would not do what it says, once it is installed."""

    code = "CP-551"


class UnknownField(CheckError):
    """A patch reads or writes a field that the schema of its object does not have."""

    code = "CP-552"


class UnknownFunction(CheckError):
    """A step of a pipeline names a function that is neither built in nor among the files."""

    code = "CP-553"


class UndefinedKind(CheckError):
    """A Composition is for a kind of composite resource that no definition among the files defines."""

    code = "CP-554"


class InvalidObject(CheckError):
    """An API server would refuse an object: it does not fit the schema of its kind."""

    code = "CP-555"


def error(problem: CrossplyError, place: Place) -> Finding:
    """An error, at the place that it names itself or else at this one."""
    return _finding(ERROR, problem, place)


def warning(problem: CrossplyError, place: Place) -> Finding:
    """A warning, at the place that the problem names itself or else at this one."""
    return _finding(WARNING, problem, place)


def _finding(level: str, problem: CrossplyError, place: Place) -> Finding:
    file, separator, line = problem.place.rpartition(":")
    if separator and line.isdigit():
        place = Place(file, int(line))
    elif problem.place and "/" in problem.place:
        place = Place(problem.place, 1)
    return Finding(level, place.file, place.line, str(problem), problem.code, problem.hint)
