"""How a reconcile of a managed resource ended, and when the next one is due."""

from __future__ import annotations

from typing import NamedTuple


class Poll(NamedTuple):
    """Reconcile again after so many seconds, give or take a jitter."""

    seconds: float


class Retry(NamedTuple):
    """Reconcile again, at once or after a pause that grows."""

    at_once: bool = False


class Reconciled(NamedTuple):
    """How a reconcile ended."""

    requeue: Poll | Retry | None = None
    """None where only a change of the resource matters."""
    outcome: str = "failed"
    """failed, waiting, paused, created, unchanged, updated, deleting or deleted."""
    failure: str = ""
    """The message of the Synced condition."""
