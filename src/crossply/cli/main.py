"""The entry point: find the command, read its words, run it, and leave with the right exit code.

0 means success or help, 1 an error while running, 80 a command line that could not be understood, 130 an
interrupt. Nothing heavy is imported here: only the called command's module is, by `tree.load`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from crossply.cli.parser import Parsed, parse
from crossply.cli.spec import USAGE_EXIT, Invocation, UsageError
from crossply.errors import CrossplyError

INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_stdout()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except RecursionError as error:
        return _unexpected(error)
    except Exception as error:  # noqa: BLE001  the last line of defence: no traceback reaches a user
        return _unexpected(error)


def _run(words: list[str]) -> int:
    parsed = Parsed()
    try:
        values = parse(words, os.environ, parsed)
    except UsageError as error:
        if asks_for_help(words):
            return _help(parsed)
        return _usage_failure(error, parsed)
    if parsed.wants_help:
        return _help(parsed)
    try:
        return _call(parsed, values)
    except UsageError as error:
        return _usage_failure(error, parsed)
    except CrossplyError as error:
        return _failure(error)


def _call(parsed: Parsed, values: dict[str, Any]) -> int:
    assert parsed.command is not None  # parse() has refused everything else
    invocation = Invocation(
        parsed.path,
        values,
        frozenset(parsed.given),
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        environ=os.environ,
        config=_config(values["config"]),
    )
    return parsed.command.run(invocation)


def _config(given: str | None) -> dict[str, Any]:
    """Read the configuration only where there is a file, so that most calls do not import a YAML reader."""
    path = given or default_config_path(os.environ)
    if not os.path.exists(path):
        return {}
    from crossply.cli import config

    return config.read(path)


def default_config_path(environ: Any) -> str:
    """Say where the configuration file is when nobody names one."""
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "crossplane", "config.yaml")


def asks_for_help(words: list[str]) -> bool:
    """Tell whether help was asked for on a line that is otherwise wrong: help is the better answer."""
    flags = words[: words.index("--")] if "--" in words else words
    return "--help" in flags or "-h" in flags


def _help(parsed: Parsed) -> int:
    from crossply.cli import help as help_text

    sys.stdout.write(help_text.render(parsed.path, parsed.command))
    return 0


def _usage_failure(error: UsageError, parsed: Parsed) -> int:
    _help(parsed)
    sys.stdout.write("\n")
    sys.stdout.flush()
    _failure(error)
    return error.exit_code


def _failure(error: CrossplyError) -> int:
    from crossply.cli.failures import report

    sys.stdout.flush()
    report(error, sys.stderr)
    return 1


def _unexpected(error: BaseException) -> int:
    if os.environ.get("CROSSPLY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    from crossply.cli.failures import report_unexpected

    report_unexpected(error, sys.stderr)
    return 1


def _drop_stdout() -> None:
    """Point stdout at nothing: Python flushes it once more at exit, and the reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


__all__ = ["USAGE_EXIT", "main"]
