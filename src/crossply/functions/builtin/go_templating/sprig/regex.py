"""Regular expression functions. The engine is RE2, so patterns take linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Strings
from crossply.functions.builtin.go_templating.engine.limits import check_items, check_size
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.runes import runes
from crossply.functions.builtin.go_templating.sprig.strings import NilStrings
from crossply.values.goquote import can_backquote, quote
from crossply.values.regexp import RegexpError, compile_go

_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


def _checked(pattern: str) -> Any:
    if pattern != runes(pattern):
        raise FunctionFailed(f"error parsing regexp: invalid UTF-8: `{pattern}`")
    try:
        return compile_go(pattern)
    except RegexpError as error:
        raise FunctionFailed(str(error)) from None


def _demanded(pattern: str) -> Any:
    """Compile as Go's MustCompile, whose panic names the pattern."""
    try:
        return _checked(pattern)
    except FunctionFailed as error:
        shown = f"`{pattern}`" if can_backquote(pattern) else quote(pattern)
        raise FunctionFailed(f"regexp: Compile({shown}): {error}") from None


def regex_match(pattern: str, text: str) -> bool:
    """Whether the pattern occurs in the text; a malformed pattern does not."""
    try:
        return must_regex_match(pattern, text)
    except FunctionFailed:
        return False


def must_regex_match(pattern: str, text: str) -> bool:
    """Whether the pattern occurs in the text."""
    return _checked(pattern).search(runes(text)) is not None


def regex_find(pattern: str, text: str) -> str:
    """The first occurrence; an empty text when there is none."""
    return _find_first(_demanded(pattern), text)


def must_regex_find(pattern: str, text: str) -> str:
    """The first occurrence; an empty text when there is none."""
    return _find_first(_checked(pattern), text)


def _find_first(compiled: Any, text: str) -> str:
    match = compiled.search(runes(text))
    return text[match.start() : match.end()] if match else ""


def regex_find_all(pattern: str, text: str, count: int) -> Strings:
    """The first so many occurrences, or with a negative number all."""
    return _find_all(_demanded(pattern), text, count)


def must_regex_find_all(pattern: str, text: str, count: int) -> Strings:
    """The first so many occurrences, or with a negative number all."""
    return _find_all(_checked(pattern), text, count)


def _find_all(compiled: Any, text: str, count: int) -> Strings:
    occurrences = [text[match.start() : match.end()] for match in _matches(compiled, text, count)]
    return Strings(occurrences) if occurrences else NilStrings()


def _matches(compiled: Any, text: str, count: int) -> Iterator[Any]:
    """Go's sequence of matches: an empty one directly after another does not count."""
    end = -1
    match_count = 0
    for match in compiled.finditer(runes(text)):
        if match_count == count:
            return
        if match.end() == match.start() == end:
            continue
        end = match.end()
        match_count += 1
        check_items(match_count)
        yield match


def regex_replace_all(pattern: str, text: str, replacement: str) -> str:
    """Replace every occurrence; $1 and ${name} in the replacement stand for groups."""
    return _replaced(_demanded(pattern), text, _expander(text, replacement))


def must_regex_replace_all(pattern: str, text: str, replacement: str) -> str:
    """Replace every occurrence; $1 and ${name} in the replacement stand for groups."""
    return _replaced(_checked(pattern), text, _expander(text, replacement))


def regex_replace_all_literal(pattern: str, text: str, replacement: str) -> str:
    """Replace every occurrence by the same text."""
    return _replaced(_demanded(pattern), text, lambda match: replacement)


def must_regex_replace_all_literal(pattern: str, text: str, replacement: str) -> str:
    """Replace every occurrence by the same text."""
    return _replaced(_checked(pattern), text, lambda match: replacement)


def _replaced(compiled: Any, text: str, replacement: Callable[[Any], str]) -> str:
    pieces: list[str] = []
    length = end = 0
    for match in _matches(compiled, text, -1):
        pieces += (text[end : match.start()], replacement(match))
        length += len(pieces[-1])
        check_size(length)
        end = match.end()
    return "".join([*pieces, text[end:]])


def expanded(text: str, match: Any, template: str) -> str:
    """The template with the groups of a match."""
    return _expander(text, template)(match)


def _expander(text: str, template: str) -> Callable[[Any], str]:
    import re

    # $name takes as many letters, digits and underscores as there are; ${name} must be nothing else.
    pieces = re.split(r"\$(\$|\w+|\{\w+\})", template)

    def expanded(match: Any) -> str:
        texts = [
            piece if index % 2 == 0 else _group(text, match, piece) for index, piece in enumerate(pieces)
        ]
        return "".join(texts)

    return expanded


def _group(text: str, match: Any, reference: str) -> str:
    if reference == "$":
        return "$"
    name = reference.strip("{}")
    group: int | None = match.re.groupindex.get(name)
    if name.isascii() and name.isdigit() and (name == "0" or name[0] != "0"):
        group = int(name) if len(name) < 9 else None
    if group is None or group > match.re.groups:
        return ""
    start, end = match.span(group)
    return text[start:end] if start >= 0 else ""


def regex_split(pattern: str, text: str, count: int) -> Strings:
    """Split where the pattern occurs, into at most so many parts; a negative number means all."""
    return _split(_demanded(pattern), pattern, text, count)


def must_regex_split(pattern: str, text: str, count: int) -> Strings:
    """Split where the pattern occurs, into at most so many parts; a negative number means all."""
    return _split(_checked(pattern), pattern, text, count)


def _split(compiled: Any, pattern: str, text: str, count: int) -> Strings:
    if count == 0:
        return NilStrings()
    if pattern and not text:
        return Strings([""])
    parts = Strings()
    start = end = 0
    for match in _matches(compiled, text, count):
        if len(parts) == count - 1 and count > 0:
            break
        end = match.start()
        if match.end() != 0:
            parts.append(text[start:end])
        start = match.end()
    if end != len(text):
        parts.append(text[start:])
    return parts


def regex_quote_meta(text: str) -> str:
    """The pattern that matches a text literally."""
    return "".join("\\" + char if char in _SPECIAL else char for char in text)
