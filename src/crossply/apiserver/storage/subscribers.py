"""Notifies subscribers of changes, right after they became durable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from crossply.apiserver.storage.entries import Event

EVERY_RESOURCE = ""
_log = logging.getLogger(__name__)


class _Subscription:
    __slots__ = ("active", "callback")

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self.callback = callback
        self.active = True


class Subscribers:
    """The callbacks of each resource. Used in the event loop only."""

    __slots__ = ("_by_resource",)

    def __init__(self) -> None:
        self._by_resource: dict[str, tuple[_Subscription, ...]] = {}

    def add(self, resource: str, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back for every event of a resource (`EVERY_RESOURCE` for all); the result unsubscribes."""
        subscription = _Subscription(callback)
        self._by_resource = {
            **self._by_resource,
            resource: (*self._by_resource.get(resource, ()), subscription),
        }

        def unsubscribe() -> None:
            subscription.active = False
            left = tuple(other for other in self._by_resource.get(resource, ()) if other is not subscription)
            self._by_resource = {**self._by_resource, resource: left}

        return unsubscribe

    def notify(self, events: Sequence[Event]) -> None:
        """Notify all current subscribers.

        A callback that subscribes has read a state with all of these events already, and must not get them:
        changes replace the mapping, and this round uses the one it started with.
        """
        by_resource = self._by_resource
        if not by_resource:
            return
        everything = by_resource.get(EVERY_RESOURCE, ())
        for event in events:
            for subscription in (*by_resource.get(event.key[0], ()), *everything):
                if subscription.active:
                    _call(subscription.callback, event)


def _call(callback: Callable[[Event], None], event: Event) -> None:
    try:
        callback(event)
    except Exception:  # noqa: BLE001 - see below
        # A failing subscriber must not keep the others, or the writers, from the change.
        _log.exception("a listener failed on revision %d of %s", event.revision, "/".join(event.key))
