"""The options of a watch: where it starts, what it selects, when it ends."""

from __future__ import annotations

import random
from dataclasses import dataclass

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.query_options import read_version, signed_option
from crossply.apiserver.endpoints.status_errors import Cause, bad_list_options
from crossply.apiserver.registry.selectors import FieldClause, Requirement, parse_fields, parse_labels
from crossply.schema.field_errors import FORBIDDEN, NOT_SUPPORTED

_SHORTEST_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What a client asked for when it started a watch."""

    since: int | None
    """Only events after this revision; None starts with all present objects."""
    skips_present: bool
    """Whether present objects are left out although no revision was named."""
    sends_initial_events_end: bool
    bookmarks: bool
    timeout: float
    labels: tuple[Requirement, ...]
    fields: tuple[FieldClause, ...]

    @property
    def key_fields(self) -> tuple[FieldClause, ...]:
        """Clauses about the name and namespace of an object."""
        return tuple(clause for clause in self.fields if clause.is_about_key)

    @property
    def content_fields(self) -> tuple[FieldClause, ...]:
        """Clauses about other fields of an object."""
        return tuple(clause for clause in self.fields if not clause.is_about_key)

    @property
    def selects_all(self) -> bool:
        return not self.labels and not self.fields


def read_watch_options(call: Call) -> WatchOptions:
    """The validated options in the query; raises StatusError."""
    initial = call.query.get("sendInitialEvents", "")
    _check_initial_events(call, initial)
    sends_initial_events = call.flag("sendInitialEvents")
    version = read_version(call)
    return WatchOptions(
        since=None if sends_initial_events else version,
        skips_present=bool(initial) and not sends_initial_events,
        sends_initial_events_end=sends_initial_events,
        bookmarks=call.flag("allowWatchBookmarks"),
        timeout=_timeout(call),
        labels=parse_labels(call.query.get("labelSelector", "")),
        fields=parse_fields(_field_selector(call), call.version, custom=call.resource.custom),
    )


def _field_selector(call: Call) -> str:
    """The field selector, and the name where one object is watched."""
    selector = call.query.get("fieldSelector", "")
    return ",".join(filter(None, (selector, f"metadata.name={call.name}" if call.name else "")))


def _check_initial_events(call: Call, initial: str) -> None:
    """Refuse a sendInitialEvents and a resourceVersionMatch that do not go together."""
    match = call.query.get("resourceVersionMatch", "")
    if not initial and match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise bad_list_options(Cause(FORBIDDEN, f"Forbidden: {why}", "resourceVersionMatch"))
    if not initial or match == "NotOlderThan":
        return
    why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    causes = [Cause(FORBIDDEN, f"Forbidden: {why}", "resourceVersionMatch")]
    if match:
        message = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        causes.append(Cause(NOT_SUPPORTED, message, "resourceVersionMatch"))
    raise bad_list_options(*causes)


def _timeout(call: Call) -> float:
    seconds = signed_option(call, "timeoutSeconds")
    if seconds is None:
        return _SHORTEST_SECONDS * (1 + random.random())
    return max(float(seconds), 0.0) or _SHORTEST_SECONDS
