"""`crossply internal complete`: what the completion scripts call at every press of the Tab key."""

from __future__ import annotations

from crossply.cli.completion.candidates import candidates
from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.framework.config_file import concealed


def run(invocation: Invocation) -> int:
    """Print one candidate a line."""
    for word in candidates(invocation["words"], concealed(invocation.config)):
        invocation.stdout.write(word + "\n")
    return 0


COMMAND = Command(
    "complete",
    "Print what the last of the words may become.",
    run,
    arguments=(Argument("words", "The words after the program's name.", optional=True, many=True),),
    examples=("crossply internal complete -- composition r",),
)
