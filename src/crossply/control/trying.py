"""What becomes of a reconcile that did not work out: whether it is told, and when it is tried again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from crossply.control.definitions.defined_kinds import Waiting
from crossply.control.observing import observed, tell_failure
from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict
from crossply.kube.guarded import NotOwner
from crossply.kube.queue import Queue

AT_ONCE, SOON = 0.05, 0.2
LONGEST = 3.0

K = TypeVar("K", bound=Hashable)
Work = Callable[[K], Awaitable[None]]
_log = logging.getLogger("crossply.control")


def tried(queue: Queue[K], kind: str, work: Work[K]) -> Work[K]:
    """The same work under observation, which is tried again until it succeeds."""
    before: dict[K, int] = {}
    """How often in a row it did not come to an end, by key."""

    def later(key: K, tries: int, first: float) -> None:
        before[key] = tries + 1
        queue.add_after(key, min(first * 1.3 ** min(tries, 20), LONGEST))

    async def attempt(key: K) -> None:
        tries = before.pop(key, 0)
        try:
            await work(key)
        except Conflict:
            # Somebody wrote in between; the watch will bring what they wrote. Whoever does so again and again
            # is not to be outrun.
            later(key, tries, AT_ONCE)
        except Waiting as problem:
            _log.debug("%s", problem)
            later(key, tries, SOON)
        except NotOwner as problem:
            # Whoever owns it now begins anew; what we wrote last is there for them to see.
            _log.info("%s", problem)
        except CrossplyError as problem:
            tell_failure(problem)
            queue.retry(key)

    return observed(queue, kind, attempt)
