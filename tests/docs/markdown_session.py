"""Reading a page that is a session at the terminal: files to write, commands to run, output to expect.

A fenced block after `<!-- file: NAME -->` is the content of a file. In a `console` block every line that
starts with `$ ` is a command; what follows is its output, and an ellipsis (…) alone on a line stands for
anything.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FILE = re.compile(r"<!-- file: (\S+) -->\n+```\w*\n(.*?)```", re.S)
_BLOCK = re.compile(r"<!-- file: \S+ -->\n+```\w*\n.*?```|```console\n(.*?)```", re.S)


class Write(NamedTuple):
    name: str
    content: str


class Run(NamedTuple):
    command: str
    output: str


def session(text: str) -> list[Write | Run]:
    """What a reader does, in the order of the page."""
    steps: list[Write | Run] = []
    for block in _BLOCK.finditer(text):
        file = _FILE.fullmatch(block.group(0))
        if file:
            steps.append(Write(file.group(1), file.group(2)))
            continue
        for part in re.split(r"^\$ ", block.group(1), flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            steps.append(Run(command, output))
    return steps


def matches(expected: str, output: str) -> bool:
    """Whether the output is as printed on the page."""
    pattern = ".*?".join(re.escape(part) for part in re.split(r"^…$", expected.strip(), flags=re.M))
    return re.fullmatch(pattern, output.strip(), re.S) is not None
