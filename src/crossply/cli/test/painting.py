"""Colours for the text of test results, by the sign that each line begins with."""

from __future__ import annotations

from crossply.cli.framework.styling import Style


def painted(text: str, style: Style) -> str:
    """The text with colours; without any where nobody would see them."""
    if not style.decorated:
        return text
    return "".join(_line(line, style) for line in text.splitlines(keepends=True))


def _line(line: str, style: Style) -> str:
    text = line.rstrip("\n")
    words = text.lstrip()
    indent = text[: len(text) - len(words)]
    sign = words[:2]
    if sign == "✓ ":
        words = style.good("✓") + words[1:]
    elif sign in ("✗ ", "! "):
        words = style.bad(words[0]) + style.bold(words[1:])
    elif sign == "- " and len(indent) == 2:
        words = style.dim(words)  # a case that was skipped
    elif sign == "- ":
        words = style.good(words)
    elif sign == "+ ":
        words = style.bad(words)
    elif not indent and words:
        words = style.bold(words)
    return f"{indent}{style.symbols(words)}" + line[len(text) :]


def painted_summary(text: str, failed: bool, style: Style) -> str:
    """The last line: green if all cases passed."""
    line = text.rstrip("\n")
    return f"{style.bad(f'✗ {line}') if failed else style.good(f'✓ {line}')}\n" if style.decorated else text
