"""How much a transform may make of little: a few lines of input must not fill the memory."""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.failure import Failure

MAX_TEXT = 16 * 1024 * 1024
"""The longest text that a transform may make, in characters. No API server would store it."""


def check_length(length: int) -> None:
    """Raise Failure when a text would become, or has become, too long."""
    if length > MAX_TEXT:
        raise Failure(f"text is longer than {MAX_TEXT} characters")
