"""Patterns of Go's filepath.Match: `*` and `?` do not match a slash."""

from __future__ import annotations

import re


def glob_pattern(text: str) -> re.Pattern[str]:
    """The pattern as a regular expression for `fullmatch`. Raises ValueError where it is not one.

    Matching takes linear time for each `*`: what is between two of them is taken where it occurs first.
    """
    *parts, last = _parts(text)
    if not parts:
        pattern = last
    else:
        middle = "".join(f"(?>[^/]*?{part})" for part in parts[1:] if part)
        pattern = f"{parts[0]}{middle}[^/]*{last}"
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        raise ValueError("syntax error in pattern") from None


def _parts(text: str) -> list[str]:
    """The regular expressions of what is between the stars."""
    parts, position = [""], 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "*":
            parts.append("")
        elif char == "?":
            parts[-1] += "[^/]"
        elif char == "[":
            end = text.find("]", position + 1)
            if end < 0:
                raise ValueError("syntax error in pattern")
            parts[-1] += f"(?!/)[{text[position:end]}]"
            position = end + 1
        elif char == "\\" and position < len(text):
            parts[-1] += re.escape(text[position])
            position += 1
        else:
            parts[-1] += re.escape(char)
    return parts
