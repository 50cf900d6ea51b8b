"""The entry point: finds the command, parses its arguments, runs it, and returns the exit code.

0 means success or help, 1 an error while running, 80 a command line that could not be understood, 130 an
interrupt. Nothing heavy is imported here: only the called command's module is, by `tree.load`.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from crossply.cli.framework import config_file as config
from crossply.cli.framework.command import CommandMissing, Invocation, UnusablePath, UsageError
from crossply.cli.framework.parser import Parsed, parse
from crossply.errors import CrossplyError

INTERRUPTED = 130


def entry() -> NoReturn:
    """Run as the program `crossply`: write UTF-8 in every locale, and exit at once."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    code = main()
    # Taking the interpreter apart costs as much as starting it; everything is flushed, nothing is left to do.
    os._exit(code)


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    try:
        code = _run(words)
        sys.stdout.flush()
        sys.stderr.flush()
        return code
    except BrokenPipeError:
        _drop_stdout()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last line of defence: no traceback reaches a user
        return _unexpected(error)


def _run(words: list[str]) -> int:
    try:
        config_path = config.locate(words, os.environ)
        settings = config.read(config_path)
    except CrossplyError as error:
        return _failure(error)
    parsed = Parsed(config.concealed(settings))
    try:
        values = parse(words, os.environ, parsed)
        if parsed.wants_version:
            return _version()
        if parsed.wants_help or parsed.command is None:
            return _help(parsed)
        streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
        invocation = Invocation(
            parsed.path,
            values,
            parsed.values,
            **streams,
            environ=os.environ,
            config=settings,
            config_path=config_path,
            words=words,
        )
        _warn_of_flags_without_effect(parsed)
        return parsed.command.run(invocation)
    except UsageError as error:
        if asks_for_help(words) and not parsed.unknown_command:
            return _help(parsed)
        return _usage_failure(error, parsed)
    except CrossplyError as error:
        return _failure(error)


def _warn_of_flags_without_effect(parsed: Parsed) -> None:
    for flag in parsed.flags:
        if flag.no_effect and parsed.values.get(flag.name):
            sys.stderr.write(f"crossply: warning: --{flag.name} has no effect: {flag.no_effect}\n")


def asks_for_help(words: list[str]) -> bool:
    """Return whether a line that is otherwise wrong asks for help: help is the better answer.

    There is none for a command that does not exist.
    """
    flags = words[: words.index("--")] if "--" in words else words
    return "--help" in flags or "-h" in flags


def _help(parsed: Parsed) -> int:
    from crossply.cli.framework import help as help_text

    sys.stdout.write(help_text.render(parsed.path, parsed.command, parsed.concealed))
    return 0


def _version() -> int:
    from crossply.version import __version__

    sys.stdout.write(f"crossply v{__version__}\n")
    return 0


def _usage_failure(error: UsageError, parsed: Parsed) -> int:
    """Report a mistake in a line or two; only a line that names no command gets the whole help."""
    if isinstance(error, CommandMissing):
        _help(parsed)
        sys.stdout.write("\n")
        return _failure(error)
    from crossply.cli.framework import help as help_text
    from crossply.cli.framework.failure_reports import report_mistake

    sys.stdout.flush()
    words = f"crossply {parsed.path}".rstrip()
    advice = f"crossply: try: {error.hint}" if error.hint else ""
    if not advice and parsed.unknown_command:
        advice = f"crossply: try: {words} --help"
    elif not advice and not isinstance(error, UnusablePath):
        advice = f"{help_text.usage_line(parsed.path, parsed.command)} (see {words} --help)"
    report_mistake(error, advice, sys.stderr)
    return error.exit_code


def _failure(error: CrossplyError) -> int:
    from crossply.cli.framework.failure_reports import report

    sys.stdout.flush()
    report(error, sys.stderr)
    code: int = getattr(error, "exit_code", 1)
    return code


def _unexpected(error: BaseException) -> int:
    if os.environ.get("CROSSPLY_DEBUG"):
        import traceback

        traceback.print_exception(error)
    from crossply.cli.framework.failure_reports import report_unexpected

    report_unexpected(error, sys.stderr)
    return 1


def _drop_stdout() -> None:
    """Redirect stdout to /dev/null: Python flushes it again at exit, and the reader has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
