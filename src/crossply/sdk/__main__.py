"""`python -m crossply.sdk FILE`: serve the function in a Python file, with the flags of a function server."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from crossply.sdk.failures import FunctionFileError
from crossply.sdk.function_file import load
from crossply.sdk.serving import serve_from_command_line, write_log_line


def main(words: Sequence[str] | None = None) -> int:
    """Serve the function at `FILE` or `FILE:NAME` until SIGTERM or SIGINT; the exit status."""
    place, *flags = (words if words is not None else sys.argv[1:]) or ("",)
    if not place or place.startswith("-"):
        write_log_line("usage: python -m crossply.sdk FILE[:NAME] [flags]")
        return 2
    try:
        function = load(place).function
    except FunctionFileError as problem:
        write_log_line(f"error: {problem}{f' ({problem.hint})' if problem.hint else ''}")
        return 1
    serve_from_command_line(function, flags)
    return 0


if __name__ == "__main__":
    sys.exit(main())
