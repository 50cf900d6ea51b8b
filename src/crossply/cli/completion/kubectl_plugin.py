"""`kubectl_complete-crossply`: completes `kubectl crossply …`, this program as a plugin of kubectl.

kubectl calls it with the words after `crossply`, and reads a word a line, then what the shell is to do.
"""

from __future__ import annotations

import os
import sys

from crossply.cli.completion.complete import candidates
from crossply.cli.framework import config_file as config
from crossply.errors import CrossplyError

OFFER_FILES = ":0"
OFFER_NO_FILES = ":4"
"""Directives of the completion protocol that kubectl has from cobra."""


def entry() -> None:
    """Run as the program `kubectl_complete-crossply`."""
    words = sys.argv[1:]
    try:
        concealed = config.concealed(config.read(config.locate(words, os.environ)))
    except CrossplyError:
        concealed = frozenset()  # the command itself reports an unusable configuration file
    choices = candidates(words, concealed)
    sys.stdout.write("".join(f"{word}\n" for word in (*choices, OFFER_NO_FILES if choices else OFFER_FILES)))
