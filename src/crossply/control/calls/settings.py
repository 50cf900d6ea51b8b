"""What whoever runs a control plane can choose about calls of functions."""

from __future__ import annotations

from typing import NamedTuple

from crossply.control.calls.bound import AT_ONCE
from crossply.control.calls.kept_answers import KeptSettings
from crossply.functions.reply_limits import MAX_REPLY


class CallSettings(NamedTuple):
    """How much at once, and what is remembered."""

    at_once: int = AT_ONCE
    """How many calls one function gets at the same time."""
    max_reply: int = MAX_REPLY
    """The largest answer in bytes."""
    kept: KeptSettings | None = None
    """Where answers are kept on disk; None for nowhere."""
