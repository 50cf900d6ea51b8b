"""Mistakes in a parsed command line: what is missing, what excludes what, which values cannot be read.

The checks run in kong's order: values that must be one of a list, required flags, missing arguments or
commands, flags that exclude each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.cli.command_registry import children
from crossply.cli.framework.command import (
    Argument,
    Command,
    CommandMissing,
    Flag,
    UnusablePath,
    UsageError,
    summary,
)
from crossply.cli.framework.flag_values import PathProblem, quote

MOST_LISTED = 5


def command_missing(path: str, concealed: frozenset[str]) -> CommandMissing:
    """Say which commands could follow a group."""
    names = [quote(child.name) for child in children(path, concealed) if not child.hidden]
    names = names or [quote(child.name) for child in children(path)]
    if len(names) == 1:
        return CommandMissing(f"expected {names[0]}")
    if len(names) > MOST_LISTED:
        names = [*names[:MOST_LISTED], "..."]
    return CommandMissing(f"expected one of {', '.join(names)}")


def unreadable(name: str, problem: ValueError) -> UsageError:
    """Say that the value of a flag or argument cannot be read."""
    if not isinstance(problem, PathProblem):
        return UsageError(f"{name}: {problem}")
    from crossply.cli.framework.suggestions import nearest_file

    return UnusablePath(f"{name}: {problem}", hint=nearest_file(problem.path))


def check_complete(
    command: Command, flags: tuple[Flag, ...], values: Mapping[str, Any], arguments: int
) -> None:
    """Raise if a required flag or argument is missing; `arguments` is the number of given ones."""
    _check_choices(command, flags, values)
    _check_required(flags, values)
    _check_arguments(command.arguments, arguments)
    _check_exclusive(flags, values)


def _check_choices(command: Command, flags: tuple[Flag, ...], values: Mapping[str, Any]) -> None:
    for flag in flags:
        if flag.choices and flag.name in values:
            _check_choice(f"--{flag.name}", flag.choices, values[flag.name])
    for argument in command.arguments:
        if argument.choices and argument.name in values:
            _check_choice(summary(argument), argument.choices, values[argument.name])


def _check_choice(name: str, choices: tuple[str, ...], argument: Any) -> None:
    for value in argument if isinstance(argument, list) else [argument]:
        if value not in choices:
            allowed = ",".join(map(quote, choices))
            raise UsageError(f"{name} must be one of {allowed} but got {quote(str(value))}")


def _check_required(flags: tuple[Flag, ...], values: Mapping[str, Any]) -> None:
    missing = [flag for flag in flags if flag.required and flag.name not in values]
    if missing:
        from crossply.cli.framework.help import usage_of

        raise UsageError(f"missing flags: {', '.join(sorted(map(usage_of, missing)))}")


def _check_arguments(arguments: tuple[Argument, ...], count: int) -> None:
    missing = [summary(argument) for argument in arguments[count:] if not argument.optional]
    if missing:
        raise UsageError(f"expected {quote(' '.join(missing))}")


def _check_exclusive(flags: tuple[Flag, ...], values: Mapping[str, Any]) -> None:
    first: dict[str, str] = {}
    for flag in flags:
        if not flag.exclusive or flag.name not in values:
            continue
        if flag.exclusive in first:
            raise UsageError(f"--{first[flag.exclusive]} and --{flag.name} can't be used together")
        first[flag.exclusive] = flag.name
