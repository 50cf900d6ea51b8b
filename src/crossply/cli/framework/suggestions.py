"""What a mistyped command, flag or file may have meant. Imported only when something is wrong.

The sentence with `did you mean` is kong's. Where nothing is near, a hint names commands that have the word
further down, or that do what the word means elsewhere.
"""

from __future__ import annotations

import os

from crossply.cli.command_registry import COMMANDS, children
from crossply.cli.framework.command import UsageError
from crossply.cli.framework.failure_reports import PROGRAM

CLOSE = 2
"""How many letters may differ in a word that is still suggested."""
_MOST_HINTS = 3
_MOST_FILES = 1000

_WORDS_OF_OTHERS = {
    "apply": "up",
    "check": "validate",
    "create": "new",
    "dashboard": "ui",
    "delete": "down",
    "describe": "explain",
    "diff": "plan",
    "events": "explain",
    "get": "trace",
    "history": "runs",
    "lint": "validate",
    "serve": "up",
    "start": "up",
    "status": "trace",
    "stop": "down",
    "template": "render",
    "tree": "trace",
    "why": "explain",
}
"""What other programs call what some of our commands do."""


def unknown_command(path: str, word: str, concealed: frozenset[str]) -> UsageError:
    """The error for a word that is no command of a group."""
    below = children(path, concealed)
    near = _near(word, [child.name for child in below if not child.hidden])
    hint = "" if near else _commands_elsewhere(path, word)
    if not near and not hint:
        # Other names of commands are suggested only where nothing better is.
        near = _near(word, [child.name for child in below])
    return UsageError(f"unexpected argument {word}{_question(near)}", hint=hint)


def nearest_command(group: str, word: str) -> str:
    """`did you mean crossply runs show?` for a word near a command of a group; empty where none is near."""
    below = [entry for entry in children(group, frozenset()) if not entry.hidden]
    near = [f"{PROGRAM} {group} {entry.name}" for entry in below if _is_close(entry.name, word)]
    return f"did you mean {' or '.join(near)}?" if near else ""


def unknown_flag(spelling: str, spellings: list[str]) -> UsageError:
    """The error for a flag that a command does not have."""
    return UsageError(f"unknown flag {spelling}{_question(_near(spelling, spellings))}")


def nearest_file(path: str) -> str:
    """A hint that names a file beside a path that does not exist; empty if none is near."""
    directory, name = os.path.split(path)
    try:
        with os.scandir(directory or os.curdir) as entries:
            names = [entry.name for _, entry in zip(range(_MOST_FILES), entries, strict=False)]
    except OSError:
        return f"the directory {directory} does not exist"
    if name in names:
        return ""
    near = sorted(candidate for candidate in names if _is_near_file(candidate, name))
    return " or ".join(near[:_MOST_HINTS])


def _is_near_file(candidate: str, name: str) -> bool:
    """Whether a letter or two differ, or only the extension (xr.yml for xr.yaml)."""
    return _distance(candidate, name) <= CLOSE or os.path.splitext(candidate)[0] == os.path.splitext(name)[0]


def _commands_elsewhere(path: str, word: str) -> str:
    words = word.lower()
    paths = [entry.path for entry in COMMANDS if not entry.hidden]
    candidates = [command for command in paths if command.split()[-1] == words and command != words]
    if not path and words in _WORDS_OF_OTHERS:
        candidates = [command for command in paths if command == _WORDS_OF_OTHERS[words]] + candidates
    return " or ".join(f"{PROGRAM} {command}" for command in candidates[:_MOST_HINTS])


def _question(near: list[str]) -> str:
    if not near:
        return ""
    return f", did you mean {near[0]}?" if len(near) == 1 else f", did you mean one of {', '.join(near)}?"


def _near(word: str, names: list[str]) -> list[str]:
    """The names near the word, quoted."""
    return [f'"{name}"' for name in names if name.startswith(word) or _is_close(name, word)]


def _is_close(name: str, word: str) -> bool:
    """Whether few letters differ; of a short name at most half."""
    return _distance(name, word) <= min(CLOSE, len(name) // 2)


def _distance(left: str, right: str) -> int:
    """Count the letters to insert, delete or replace to turn one word into the other (Levenshtein)."""
    if abs(len(left) - len(right)) > CLOSE:
        return CLOSE + 1  # it cannot be near; a very long word costs nothing
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
    return row[-1]
