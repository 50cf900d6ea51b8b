"""The message of an error in a script: the calls that led to it, as Starlark in Go writes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple

from crossply.functions.builtin.starlark.language.calls import NotCallable, NotEntered, call_builtin
from crossply.functions.builtin.starlark.language.parser import Source
from crossply.functions.builtin.starlark.language.program import MARK
from crossply.functions.builtin.starlark.language.values import ApplicationValue, Builtin

_TOP_LEVEL = "<module>"


class Frame(NamedTuple):
    """A call: a place in a script, or a built-in function, which has none."""

    place: str
    function: str


def backtrace(error: BaseException, sources: Mapping[str, Source]) -> str:
    """The calls and the message of an error."""
    message = describe(error)
    frames = frames_of(error, sources)
    if isinstance(error, NotEntered):
        frames.append(Frame(error.function.place, error.function.name))
    suffix = ""
    if frames and not frames[-1].place:
        suffix = f" in {frames.pop().function}"
    lines = [f"  {frame.place or '<builtin>'}: in {frame.function}\n" for frame in frames]
    head = "Traceback (most recent call last):\n" if lines else ""
    return f"{head}{''.join(lines)}Error{suffix}: {message}"


def describe(error: BaseException) -> str:
    """The message of an error."""
    if isinstance(error, RecursionError):
        return "Starlark stack overflow"
    if isinstance(error, UnboundLocalError):
        return f"local variable {error.name or _quoted(error)} referenced before assignment"
    if isinstance(error, NameError):
        return f"global variable {error.name} referenced before assignment"
    if isinstance(error, TypeError):
        # The only one of Python's own that reaches us: a keyword that is passed twice.
        return str(error).partition("() ")[2] or str(error)
    return str(error)


def _quoted(error: BaseException) -> str:
    parts = str(error).split("'")
    return parts[1] if len(parts) > 1 else ""


def frames_of(error: BaseException, sources: Mapping[str, Source]) -> list[Frame]:
    """The calls of scripts and of built-in functions that led to an error, the outermost first."""
    frames: list[Frame] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(MARK):
            _add(frames, Frame(_place(trace, sources), _function_name(code.co_name)))
        elif code is call_builtin.__code__ and not isinstance(error, NotCallable):
            frames.append(Frame("", _builtin_name(trace.tb_frame.f_locals["function"])))
        trace = trace.tb_next
    return frames


def _add(frames: list[Frame], frame: Frame) -> None:
    """Add a call. A comprehension is none, but has the position in the function around it."""
    if frame.function or not frames:
        frames.append(frame)
    else:
        frames[-1] = frames[-1]._replace(place=frame.place)


def _function_name(name: str) -> str:
    """The name of a frame; empty for a comprehension, which is no function in Starlark."""
    if name == _TOP_LEVEL:
        return "<toplevel>"
    if name == "<lambda>":
        return "lambda"
    return "" if name.startswith("<") else name


def _builtin_name(function: object) -> str:
    if isinstance(function, Builtin):
        return function.name
    return function.name if isinstance(function, ApplicationValue) else ""


def _place(trace: TracebackType, sources: Mapping[str, Source]) -> str:
    code = trace.tb_frame.f_code
    name = code.co_filename.removeprefix(MARK)
    positions = list(code.co_positions())
    line, _, column, _ = positions[trace.tb_lasti // 2]
    if name not in sources or line is None:
        return f"{name}:{trace.tb_lineno}"
    return sources[name].place(line, column or 0)
