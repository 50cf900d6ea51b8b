"""The grammar of field paths: `spec.ports[0].name`, `metadata.labels[example.org/team]`.

Text to segments and back; `field_path_read` and `field_path_write` use the segments. Import `field_path`.
"""

from __future__ import annotations

from crossply.errors import CrossplyError
from crossply.values.bounded_cache import cached_for_short_texts
from crossply.values.goquote import quote, utf8

Segment = str | int
"""A step into a value: a field name of an object (str) or an index into an array (int)."""

WILDCARD = "*"
_INDEX_LIMIT = 1 << 32


class PathError(CrossplyError):
    """A field path is malformed, or does not fit the value it is applied to."""

    code = "CP-110"
    not_found = False


class PathNotFound(PathError):
    """A field path is sound, but leads to nothing in this value."""

    code = "CP-111"
    not_found = True


@cached_for_short_texts(4096)
def parse(path: str) -> tuple[Segment, ...]:
    """Split a path into its segments. Raises PathError with the position."""
    segments: list[Segment] = []
    position = 0
    while position < len(path):
        stop = _end_of_field(path, position)
        if stop > position:
            segments.append(field(path[position:stop]))
        if stop == len(path):
            break
        if path[stop] == ".":
            position = _after_period(path, stop)
        else:
            inner, position = _bracketed(path, stop)
            segments.append(_field_or_index(inner))
    return tuple(segments)


@cached_for_short_texts(4096)
def segments_of(path: str) -> tuple[Segment, ...]:
    """Like `parse`, but with the path named in the error: what every access starts with."""
    try:
        return parse(path)
    except PathError as problem:
        raise PathError(f"cannot parse path {quote(path)}: {problem}") from None


def to_string(segments: tuple[Segment, ...] | list[Segment]) -> str:
    """Write segments as a path; fields that hold a dot, and wildcards, go in brackets."""
    return "".join(map(_segment_text, segments)).removeprefix(".")


def field(name: str) -> str:
    """Turn the text of a field into its name: the quotes around it are decoration."""
    return name.strip("'\"")


def _segment_text(segment: Segment) -> str:
    if isinstance(segment, int):
        return f"[{segment}]"
    if segment == WILDCARD or "." in segment:
        return f"[{segment}]"
    return f".{segment}"


def _field_or_index(text: str) -> Segment:
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0") or "0"
        # The length is compared first: int() of untrusted text must not see thousands of digits.
        if len(digits) <= 10 and int(digits) < _INDEX_LIMIT:
            return int(digits)
    return field(text)


def _end_of_field(path: str, position: int) -> int:
    for index in range(position, len(path)):
        char = path[index]
        if char == "]":
            raise _malformed(path, "unexpected ']'", index)
        if char in ".[":
            return index
    return len(path)


def _after_period(path: str, position: int) -> int:
    if position in (0, len(path) - 1):
        raise _malformed(path, "unexpected '.'", position)
    next_char = path[position + 1]
    if next_char in ".[":
        raise _malformed(path, f"unexpected '{next_char}'", position + 1)
    return position + 1


def _bracketed(path: str, position: int) -> tuple[str, int]:
    """Return the text in the brackets that open at position, and the position after them."""
    closing = path.find("]", position)
    if closing < 0:
        raise _malformed(path, "unterminated '['", position)
    if closing == position + 1:
        raise _malformed(path, "unexpected ']'", closing)
    inner = path[position + 1 : closing]
    if "[" in inner:
        raise _malformed(path, "unexpected '['", position + 1 + inner.index("["))
    return inner, closing + 1


def _malformed(path: str, token: str, index: int) -> PathError:
    offset = len(utf8(path[:index]))
    return PathError(f"{token} at position {offset}")
