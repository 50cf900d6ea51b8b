"""What a diagnosis says: plain values for the terminal, for JSON and for the dashboard."""

from __future__ import annotations

from typing import NamedTuple

from crossply.resource_tree.node import Reference


class Cause(NamedTuple):
    """Why a resource is not ready."""

    sentence: str
    """What is wrong with `ref`, which it does not name; may have several lines."""
    evidence: tuple[str, ...]
    """What it was read from: conditions, events, results of functions, lines of logs."""
    command: str
    """What to run next."""
    ref: Reference
    """The resource at fault: the root, or one below it."""
    since: str = ""
    """When that began, RFC 3339; empty where it is not known."""

    @property
    def text(self) -> str:
        """The resource and what is wrong with it, in one line."""
        return f"{self.ref.label}: {' '.join(self.sentence.split())}"
