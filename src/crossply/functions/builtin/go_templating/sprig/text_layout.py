"""indent, nindent, wrap, abbrev and similar functions."""

from __future__ import annotations

from collections.abc import Callable

from crossply.functions.builtin.go_templating.engine.limits import check_size
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.runes import to_bytes, to_text, walkable

_ELLIPSIS = b"..."
_BLANK = ord(" ")


def indent(spaces: int, text: str) -> str:
    """Put blanks before every line, empty ones too."""
    if spaces < 0:
        raise FunctionFailed("strings: negative Repeat count")
    check_size(len(text) + spaces * (text.count("\n") + 1))
    pad = " " * spaces
    return pad + text.replace("\n", "\n" + pad)


def nindent(spaces: int, text: str) -> str:
    """Begin a new line, then indent."""
    return "\n" + indent(spaces, text)


def abbrev(width: int, text: str) -> str:
    """Shorten text to a width in bytes, with an ellipsis."""
    if width < 4:
        return text
    return to_text(_abbreviated(to_bytes(text), 0, width))


def abbrev_both(left: int, right: int, text: str) -> str:
    """Shorten text at both ends: left is an offset that must be visible, right the width."""
    if right < 4 or (left > 0 and right < 7):
        return text
    return to_text(_abbreviated(to_bytes(text), left, right))


def _abbreviated(data: bytes, offset: int, width: int) -> bytes:
    if len(data) <= width:
        return data
    available = width - 3
    offset = min(offset, len(data))
    if len(data) - offset < available:
        offset = len(data) - available
    if offset <= 4:
        return data[:available] + _ELLIPSIS
    if width < 7:
        return b""
    if offset + available < len(data):
        # What is left is abbreviated in turn; the library drops it where that is too narrow to be possible.
        return _ELLIPSIS + _abbreviated_end(data[offset:], available)
    return _ELLIPSIS + data[len(data) - available :]


def _abbreviated_end(data: bytes, width: int) -> bytes:
    return data if len(data) <= width else data[: width - 3] + _ELLIPSIS


def wrap(width: int, text: str) -> str:
    """Break lines at blanks; a word longer than the width is left whole."""
    return _wrapped(text, width, "\n", _after_word)


def wrap_with(width: int, separator: str, text: str) -> str:
    """Break lines at blanks, with a separator between them; a word longer than the width is broken."""
    return _wrapped(text, width, separator or "\n", _within_word)


_Break = tuple[int, int]
"""Where a line ends, and where the next one begins."""


def _wrapped(
    text: str, width: int, separator: str, without_blank: Callable[[bytes, int, int], _Break]
) -> str:
    data = to_bytes(walkable(text))
    width = max(width, 1)
    check_size(len(data) + len(separator) * (len(data) // width + data.count(b" ") + 1))
    lines: list[bytes] = []
    at = 0
    while len(data) - at > width:
        if data[at] == _BLANK:
            at += 1
            continue
        blank = data.rfind(b" ", at, at + width + 1)
        end, next_start = (blank, blank + 1) if blank >= 0 else without_blank(data, at, width)
        lines.append(data[at:end])
        if next_start > len(data):
            return to_text(to_bytes(separator).join(lines))
        at = next_start
    return to_text(to_bytes(separator).join([*lines, data[at:]]))


def _after_word(data: bytes, at: int, width: int) -> _Break:
    blank = data.find(b" ", at + width)
    end = blank if blank >= 0 else len(data)
    return end, end + 1


def _within_word(data: bytes, at: int, width: int) -> _Break:
    return at + width, at + width
