"""`crossply internal complete`: the completions of a command line.

The completion script of every shell calls it at each press of the Tab key.
"""

from __future__ import annotations

from crossply.cli.command_registry import children, load
from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.config_file import concealed
from crossply.cli.framework.parser import GLOBAL_FLAGS


def candidates(words: list[str], concealed: frozenset[str]) -> list[str]:
    """List what the last word may become; nothing means that the shell should offer files."""
    before, current = words[:-1], words[-1] if words else ""
    if "--" in before:
        return []
    understood = _understand(before)
    if understood is None:
        return []
    path, command, waiting = understood
    flags = GLOBAL_FLAGS + (command.flags if command else ())
    if waiting:
        choices = list(waiting.choices)
    elif current.startswith("-"):
        choices = [spelling for flag in flags if not flag.hidden for spelling in _spellings(flag)]
    elif command is None:
        choices = [child.name for child in children(path, concealed) if not child.hidden]
    else:
        choices = _argument_choices(command, before)
    return [word for word in choices if word.startswith(current)]


def _understand(words: list[str]) -> tuple[str, Command | None, Flag | None] | None:
    """Follow the words to a group or command, and to the flag that still waits for its value."""
    path = ""
    command: Command | None = None
    waiting: Flag | None = None
    for word in words:
        if waiting:
            waiting = None
        elif word.startswith("-"):
            waiting = _waiting_flag(word, GLOBAL_FLAGS + (command.flags if command else ()))
        elif command is None:
            child = next((child for child in children(path) if child.name == word), None)
            if child is None:
                return None
            path = f"{path} {word}".lstrip()
            command = load(child.entry) if child.entry else None
    return path, command, waiting


def _waiting_flag(word: str, flags: tuple[Flag, ...]) -> Flag | None:
    return next((flag for flag in flags if flag.kind != "bool" and word in _spellings(flag)), None)


def _spellings(flag: Flag) -> list[str]:
    return [f"--{flag.name}", *([f"-{flag.short}"] if flag.short else [])]


def _argument_choices(command: Command, before: list[str]) -> list[str]:
    argument = command.arguments[0] if command.arguments else None
    first = bool(before) and before[-1] in (command.name, "completion")
    return list(argument.choices) if argument and first else []


def run(invocation: Invocation) -> int:
    """Print one candidate a line."""
    for word in candidates(invocation["words"], concealed(invocation.config)):
        invocation.stdout.write(word + "\n")
    return 0


COMMAND = Command(
    "complete",
    "Print the completions of a command line.",
    run,
    arguments=(Argument("words", "The words after the program's name.", optional=True, many=True),),
    examples=("crossply internal complete -- composition r",),
)
