"""What a command line still lacks, or has too much of, once all its words are read.

The checks run in kong's order: values that must be one of a list, required flags, arguments or a command
that are missing, flags that exclude each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.cli.parser_values import LIST_KINDS, quote
from crossply.cli.spec import Argument, Command, Flag, UsageError
from crossply.cli.tree import children

MOST_LISTED = 5


def check_complete(
    path: str, command: Command | None, flags: tuple[Flag, ...], given: Mapping[str, Any], arguments: int
) -> None:
    """Raise when something the command needs was not given; `arguments` were."""
    _check_choices(flags, given)
    _check_required(flags, given)
    if command is None:
        raise UsageError(_expected([quote(child.name) for child in children(path) if not child.hidden]))
    _check_arguments(command.arguments, arguments)
    _check_exclusive(flags, given)


def _check_choices(flags: tuple[Flag, ...], given: Mapping[str, Any]) -> None:
    for flag in flags:
        if not flag.choices or flag.name not in given:
            continue
        for value in given[flag.name] if flag.kind in LIST_KINDS else [given[flag.name]]:
            if value not in flag.choices:
                allowed = ",".join(quote(choice) for choice in flag.choices)
                raise UsageError(f"--{flag.name} must be one of {allowed} but got {quote(str(value))}")


def _check_required(flags: tuple[Flag, ...], given: Mapping[str, Any]) -> None:
    missing = [flag for flag in flags if flag.required and flag.name not in given]
    if missing:
        from crossply.cli.help import usage_of

        raise UsageError(f"missing flags: {', '.join(sorted(map(usage_of, missing)))}")


def _check_arguments(arguments: tuple[Argument, ...], count: int) -> None:
    missing = [f"<{argument.name}>" for argument in arguments[count:] if not argument.optional]
    if missing:
        raise UsageError(f"expected {quote(' '.join(missing))}")


def _expected(names: list[str]) -> str:
    if len(names) == 1:
        return f"expected {names[0]}"
    if len(names) > MOST_LISTED:
        names = [*names[:MOST_LISTED], "..."]
    return f"expected one of {', '.join(names)}"


def _check_exclusive(flags: tuple[Flag, ...], given: Mapping[str, Any]) -> None:
    first: dict[str, str] = {}
    for flag in flags:
        if not flag.exclusive or flag.name not in given:
            continue
        if flag.exclusive in first:
            raise UsageError(f"--{first[flag.exclusive]} and --{flag.name} can't be used together")
        first[flag.exclusive] = flag.name
