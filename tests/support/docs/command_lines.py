"""Reading `crossply` command lines in texts, with the parser of the program itself."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from crossply.cli.command_registry import COMMANDS, load
from crossply.cli.framework.command import Flag, UsageError
from crossply.cli.framework.parser import GLOBAL_FLAGS, Parsed, parse

PROGRAM = "crossply"
SHELLS = ("", "console", "sh", "bash", "shell", "fish")
ELLIPSES = ("…", "...")
_OPERATORS = re.compile(r"[|;&()<>]+")
_REDIRECTION = re.compile(r"[<>]")
_ASSIGNMENT = re.compile(r"\w+=")
_DRAWING = re.compile(r"[─-╿]|^Usage: ")
_PLACEHOLDER = re.compile(r'but got "([A-Z][A-Z_]*)"')
_MISSING_PATH = re.compile(r"stat (.+): no such file or directory$")
_NO_DIRECTORY = re.compile(r'"(.+)" exists but is not a directory$')

FLAGS: dict[str, list[Flag]] = {}
"""The flags of every command, by the path of the command."""
for _entry in COMMANDS:
    FLAGS[_entry.path] = list(load(_entry).flags)


def shell_lines(language: str, text: str) -> Iterator[tuple[int, str]]:
    """The commands in a block, each with its line in the block; output of a session is left out."""
    if language not in SHELLS:
        return
    session = any(line.startswith("$ ") for line in text.split("\n"))
    pending, start = "", 0
    for number, line in enumerate(text.split("\n")):
        if not pending:
            if session and not line.startswith("$ "):
                continue
            start = number
        pending += line.removeprefix("$ ") if not pending else line
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        yield start, pending
        pending = ""


def crossply_commands(line: str) -> Iterator[list[str]]:
    """The words of each call of the program in a line of shell, also of one in its comment."""
    if _DRAWING.search(line):
        return
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&()<>")
        lexer.whitespace_split = True
        lexer.commenters = ""
        tokens = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    comment = False
    tokens.append(";")
    for token, next_token in zip(tokens, [*tokens[1:], ""], strict=True):
        if token.isdigit() and _REDIRECTION.match(next_token):
            continue  # the descriptor that is redirected
        if _OPERATORS.fullmatch(token) or token == "#":
            if command and os.path.basename(command[0]) == PROGRAM:
                yield command[1:]
            command = []
            comment = comment or token == "#"
        elif command or not (_ASSIGNMENT.match(token) or (comment and token != PROGRAM)):
            command.append(token)


def mentioned_command(words: list[str]) -> str | None:
    """The path of the command that words begin with, if there is one."""
    names = [word for word in words if not word.startswith("-")]
    for count in range(len(names), 0, -1):
        if " ".join(names[:count]) in FLAGS:
            return " ".join(names[:count])
    return None


def is_group(words: list[str]) -> bool:
    """Whether words are the name of a group of commands."""
    return any(entry.path.startswith(" ".join(words) + " ") for entry in COMMANDS)


def problem_of(words: list[str], scratch: Path, *, whole: bool) -> str | None:
    """The parser's error about a command line; unless it is `whole`, arguments may be missing."""
    arguments = [word.lstrip("/") or "/" if word.startswith("/") else word for word in words]
    if any(word.endswith(ELLIPSES) for word in arguments):
        whole = False
        arguments = [word for word in arguments if word not in ELLIPSES]
    for _ in range(20):
        try:
            parse(list(arguments), {}, Parsed())
        except UsageError as error:
            message = str(error)
            if not whole and (message.startswith(("expected ", "missing flags")) or _is_open(message)):
                return None
            if not _mended(message, arguments, scratch):
                return message
        else:
            return None
    return "the line is not understood after many attempts"


def _is_open(message: str) -> bool:
    """Whether only the value of the last flag is missing."""
    return message.endswith(("(<EOL>)", '..."')) and (
        " value but got " in message or "missing value" in message
    )


def _mended(message: str, words: list[str], scratch: Path) -> bool:
    """Make the file that the page takes for granted, or put a number for a word in capitals."""
    missing = _MISSING_PATH.search(message)
    if missing and Path(missing[1]).is_relative_to(scratch):
        path = Path(missing[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        return True
    directory = _NO_DIRECTORY.search(message)
    if directory and Path(directory[1]).is_relative_to(scratch) and Path(directory[1]).is_file():
        Path(directory[1]).unlink()
        Path(directory[1]).mkdir()
        return True
    placeholder = _PLACEHOLDER.search(message)
    if placeholder:
        value = "1s" if "duration" in message else "1"
        before = list(words)
        words[:] = [re.sub(rf"(^|=){placeholder[1]}$", rf"\g<1>{value}", word) for word in words]
        return words != before
    return False


@functools.cache
def flags_of(path: str) -> dict[str, Flag]:
    """The flags of a command by every spelling."""
    spellings: dict[str, Flag] = {}
    for flag in (*GLOBAL_FLAGS, *FLAGS[path]):
        for name in (flag.name, *flag.aliases):
            spellings["--" + name] = flag
        if flag.short:
            spellings["-" + flag.short] = flag
    return spellings
