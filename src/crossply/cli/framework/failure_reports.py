"""Text output: failures, progress of a command's steps, and aligned columns.

A failure ends with exactly the sentence that Crossplane prints, because scripts read the last line of stderr.
Its place, the next thing to try and the page that explains it are printed above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from crossply.errors import CrossplyError

PROGRAM = "crossply"
ERRORS_PAGE = "https://crossply.dev/reference/errors/"


def report(error: CrossplyError, stream: TextIO) -> None:
    """Print an error with its place, its hint and its page."""
    if error.place:
        stream.write(f"{PROGRAM}: at {error.place}\n")
    if error.hint:
        stream.write(f"{PROGRAM}: try: {error.hint}\n")
    if error.code != CrossplyError.code and (error.place or error.hint):
        stream.write(
            f"{PROGRAM}: see: {PROGRAM} explain {error.code}, or {ERRORS_PAGE}#{error.code.lower()}\n"
        )
    prefix = getattr(error, "prefix", "error: ")
    stream.write(f"{PROGRAM}: {prefix}{harmless(str(error))}\n")


def report_mistake(error: CrossplyError, advice: str, stream: TextIO) -> None:
    """Print a mistake in the command line below a line of advice."""
    if advice:
        stream.write(f"{advice}\n")
    stream.write(f"{PROGRAM}: error: {harmless(str(error))}\n")


def harmless(text: str) -> str:
    """The text without what could steer a terminal: functions and files may say anything."""
    return "".join(repr(char)[1:-1] if _is_control(char) else char for char in text)


def _is_control(char: str) -> bool:
    return (char < " " and char not in "\n\t") or "\x7f" <= char < "\xa0"


def report_unexpected(error: BaseException, stream: TextIO) -> None:
    """Print an internal error: a short message that says what to report, without a traceback."""
    import sys

    from crossply.version import __version__

    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    python = ".".join(map(str, sys.version_info[:3]))
    about = f"at {_raised_at(error)}, version {__version__}, Python {python}"
    stream.write(f"{PROGRAM}: this is a mistake in Crossply, not in your input; please report it\n")
    stream.write(f"{PROGRAM}: try: CROSSPLY_DEBUG=1 shows the whole traceback\n")
    stream.write(f"{PROGRAM}: error: internal error: {message} ({about})\n")


def _raised_at(error: BaseException) -> str:
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return "an unknown place"
    file = step.tb_frame.f_code.co_filename
    return f"{file[file.rfind('crossply/') :]}:{step.tb_lineno}"


@contextmanager
def step_output(step: str, say: Callable[[str], int]) -> Iterator[None]:
    """Say what is being done, and how it went."""
    say(f"{step}...\n")
    try:
        yield
    except CrossplyError:
        say(f"✗ {step}\n")
        raise
    say(f"✓ {step}\n")


MIN_WIDTH, PADDING = 6, 3


def align(text: str) -> str:
    """The text with spaces for tabs."""
    lines = [line.split("\t") for line in text.replace("\v", "\t").replace("\f", "\n").split("\n")]
    widths: list[list[int]] = [[] for _ in lines]
    _measure(lines, widths, 0, len(lines))
    return "\n".join(_laid_out(cells, width) for cells, width in zip(lines, widths, strict=True))


def _measure(lines: list[list[str]], widths: list[list[int]], start: int, end: int) -> None:
    """Give every line its widths: column by column, each time for the lines that reach so far."""
    runs = [(start, end, 0)]
    while runs:
        start, end, column = runs.pop()
        line = start
        while line < end:
            stop = line
            while stop < end and len(lines[stop]) > column + 1:
                stop += 1
            if stop > line:
                width = max(len(cells[column]) + PADDING for cells in lines[line:stop])
                for row in range(line, stop):
                    widths[row].append(max(width, MIN_WIDTH))
                runs.append((line, stop, column + 1))
            line = stop + 1


def _laid_out(cells: list[str], widths: list[int]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)) + cells[-1]
