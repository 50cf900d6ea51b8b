"""Colours and symbols for terminals.

`invocation.style` belongs to standard output, `invocation.error_style` to standard error. On a stream that is
no terminal every method returns its text as it is, so a command writes one text for terminals and programs.
Colour is never the only sign of anything: a symbol or a word says the same.

    style.good("✓ Ready")    style.bad("✗ False")    style.dim("3m")    style.status("True")

The user decides, in this order: --color, NO_COLOR, FORCE_COLOR, and TERM=dumb, which has no colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

AUTO, ALWAYS, NEVER = "auto", "always", "never"

_RESET = "\x1b[0m"
_ASCII = str.maketrans(
    {
        "✓": "+",
        "✗": "x",
        "●": "*",
        "○": "o",
        "▲": "!",
        "…": "...",
        "→": "->",
        "·": "-",
        "×": "x",
        "├": "|",
        "└": "`",
        "│": "|",
        "─": "-",
        "█": "#",
        "░": ".",
    }
)
"""What stands for our symbols where the terminal's character set is not UTF-8."""


class Style:
    """How texts are decorated on one stream."""

    __slots__ = ("colored", "decorated", "unicode")

    def __init__(self, colored: bool = False, decorated: bool = False, unicode: bool = True) -> None:
        self.colored = colored
        self.decorated = decorated
        """Whether a person reads it: symbols, ages and hints that programs do not expect may be added."""
        self.unicode = unicode

    def good(self, text: str) -> str:
        """Green: ready, passed, created."""
        return self._paint("32", text)

    def bad(self, text: str) -> str:
        """Red: failed, missing, deleted."""
        return self._paint("31", text)

    def warn(self, text: str) -> str:
        """Yellow: changed, waiting, unknown."""
        return self._paint("33", text)

    def accent(self, text: str) -> str:
        """Cyan: names and commands to look at or copy."""
        return self._paint("36", text)

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def status(self, word: str) -> str:
        """The status of a condition with its symbol: `✓ True`, `✗ False`, `○ Unknown`."""
        if not self.decorated:
            return word
        if word == "True":
            return self.good(f"✓ {word}")
        if word == "False":
            return self.bad(f"✗ {word}")
        return self.warn(f"○ {word}") if word == "Unknown" else self.dim(word)

    def sign(self, sign: str, text: str) -> str:
        """A line of a difference in the colour of its sign: + ~ - ! =."""
        color = {"+": "32", "~": "33", "-": "31", "!": "31", "=": "2"}.get(sign)
        return self._paint(color, text) if color else self.symbols(text)

    def symbols(self, text: str) -> str:
        """The text with symbols that the terminal can show."""
        return text if self.unicode else text.translate(_ASCII)

    def _paint(self, color: str, text: str) -> str:
        text = self.symbols(text)
        return f"\x1b[{color}m{text}{_RESET}" if self.colored and text else text


PLAIN = Style()


def style_of(stream: TextIO, environ: Mapping[str, str], color: str = AUTO) -> Style:
    """The style of a stream; `color` is the value of --color."""
    terminal = stream.isatty()
    colored = _is_colored(terminal, environ, color)
    if not terminal and not colored:
        return PLAIN
    return Style(colored, True, _shows_unicode(environ))


def _is_colored(terminal: bool, environ: Mapping[str, str], color: str) -> bool:
    if color in (ALWAYS, NEVER):
        return color == ALWAYS
    if environ.get("NO_COLOR"):
        return False
    force = environ.get("FORCE_COLOR", "")
    if force:
        return force not in ("0", "false")
    return terminal and not is_dumb(environ)


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Whether the terminal understands no escape sequences."""
    return environ.get("TERM") == "dumb"


def _shows_unicode(environ: Mapping[str, str]) -> bool:
    """Whether the locale's character set is UTF-8; it is taken for UTF-8 where no locale is set."""
    if is_dumb(environ):
        return False
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or "utf-8"
    return "utf-8" in locale.lower() or "utf8" in locale.lower()
