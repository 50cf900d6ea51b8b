"""The deepest cause as one short sentence in the Ready condition of an XR and its claim.

Definitions ask for it by an annotation. The sentence follows the message that the condition has anyway. It is
read off what was observed; a composed XR has it in its own condition. It has no times, counters or
identifiers, so that nothing is written while a failure stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from crossply.compose.composed_resources import Composed
from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import name_of, text_in
from crossply.compose.unmet_readiness_check import unmet_check
from crossply.values import Object

MARK = "cause: "
_JOINT = "; "
_LONGEST = 300
_FIELDS = re.compile(
    r"(?:^|[\[\s])([A-Za-z_][\w.\-\[\]\"]*): (?:Invalid|Required|Unsupported|Duplicate|Forbidden|Too) ?"
)
_CHANGING = re.compile(
    r"""
      \b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b   # a UUID
    | \b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*                                            # a time
    | \b0x[0-9a-fA-F]+\b | \b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{16,}\b                       # a pointer, a digest
    | (?<=:)\d+(?=->)                                                                   # a port of a client
    | (?<=\s)\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h)(?:\d+(?:\.\d+)?(?:ms|s|m))*\b           # a duration
    | (?<=request\ id:\ )\S+ | (?<=requestid:\ )\S+                                     # of a cloud's API
    | (?<=attempt\ )\d+ | (?<=retry\ )\d+                                               # a counter
    """,
    re.VERBOSE | re.IGNORECASE,
)


def with_cause(message: str, cause: str) -> str:
    """A message, followed by the cause if there is one."""
    return _JOINT.join(part for part in (message, f"{MARK}{cause}" if cause else "") if part)


def cause_in(message: str) -> str:
    """The cause that a message ends with; empty where it has none."""
    if message.startswith(MARK):
        return message.removeprefix(MARK)
    return message.partition(f"{_JOINT}{MARK}")[2]


def without_cause(message: str) -> str:
    """What comes before the cause in a message."""
    return "" if message.startswith(MARK) else message.partition(f"{_JOINT}{MARK}")[0]


def cause_of_unready(
    composed: Iterable[Composed], refused: Mapping[str, str], inputs: Sequence[Object | None] = ()
) -> str:
    """Why the composed resources are not ready: that of the first, by name, which says why.

    A resource that says nothing itself may not meet a readiness check in the inputs of the steps.
    """
    for resource in composed:
        if resource.ready:
            continue
        reason = refused.get(resource.name)
        if reason is not None:
            return f"{_label(resource.object)}: {refusal_sentence(reason)}"
        observed = {} if resource.observed is None else resource.observed.object
        cause = cause_of(observed) or _unmet_check(resource.name, observed, inputs)
        if cause:
            return cause
    return ""


def _unmet_check(name: str, observed: Object, inputs: Sequence[Object | None]) -> str:
    unmet = unmet_check(name, observed, inputs) if observed else None
    return f"{_label(observed)}: {unmet.sentence}" if unmet else ""


def cause_of(obj: Object) -> str:
    """What an object itself reports to be wrong: its failure to sync, or why it is not ready."""
    conditions = {str(entry["type"]): entry for entry in read_conditions(obj.get("status"))}
    synced, ready = conditions.get("Synced", {}), conditions.get("Ready", {})
    deeper = cause_in(text_in(ready, "message"))
    if synced.get("status") == "False" and not (deeper and _is_about_children(synced)):
        return f"{_label(obj)}: {stable_sentence(text_in(synced, 'message') or text_in(synced, 'reason'))}"
    if deeper:
        return deeper
    if ready.get("status") == "False" and ready.get("message"):
        return f"{_label(obj)}: {stable_sentence(ready['message'])}"
    return ""


def refusal_sentence(reason: str) -> str:
    """Why the API server refuses a resource: it lists the fields in any order, and the sentence must not."""
    fields = sorted(set(_FIELDS.findall(reason.partition(" is invalid: ")[2])))
    return f"invalid: {', '.join(fields)}" if fields else stable_sentence(reason)


def stable_sentence(text: str) -> str:
    """The text in one line of bounded length, without what differs from one attempt to the next."""
    line = _CHANGING.sub("…", " ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _is_about_children(synced: Object) -> bool:
    return text_in(synced, "message").startswith("Unsynced resources: ")


def _label(obj: Object) -> str:
    return f"{text_in(obj, 'kind')}/{name_of(obj)}"
