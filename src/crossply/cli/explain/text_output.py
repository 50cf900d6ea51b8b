"""An explanation as text or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from crossply.apiserver.tables.human_duration import since
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.diagnosis.deletion import Blocker
from crossply.diagnosis.explanation import Explanation
from crossply.diagnosis.model import Cause
from crossply.resource_tree.node import Reference
from crossply.values import Object

_MOST_BLOCKERS = 5
_MOST_UNREAD = 8
_SAME = 40
"""Messages with the same ending of this length count as the same."""


def as_text(explanation: Explanation, style: Style) -> str:
    """What is wrong first, then how it came to be composed so."""
    cause = explanation.cause
    paint = style.bad if cause else style.good
    lines = [f"{style.bold(harmless(explanation.ref.label))} {paint(harmless(explanation.state))}"]
    if cause:
        lines += ["", *_cause("Why:", cause, style)]
    for other in explanation.others:
        lines += ["", *_cause("Also:", other, style)]
    if explanation.blockers:
        lines += ["", style.bold("Deletion is blocked by")]
        for blocker in explanation.blockers[:_MOST_BLOCKERS]:
            lines += _blocker(blocker, style)
        if len(explanation.blockers) > _MOST_BLOCKERS:
            lines.append(f"  and {len(explanation.blockers) - _MOST_BLOCKERS} more")
    if explanation.selection:
        selection = explanation.selection
        lines += ["", style.bold("Composed by")]
        lines += [f"  {_line(text)}" for text in selection if text]
    if explanation.wakeups:
        lines += ["", style.bold("Reconciled next by")]
        lines += [f"  {_line(text)}" for text in explanation.wakeups]
    if explanation.unread:
        lines += ["", style.dim(f"Left out, because you may not read it: {_unread(explanation.unread)}")]
    return "".join(f"{line}\n" for line in lines)


def _unread(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_UNREAD} more" if len(names) > _MOST_UNREAD else ""
    return _line(", ".join(names[:_MOST_UNREAD])) + more


def _cause(title: str, cause: Cause, style: Style) -> list[str]:
    age = f" {style.dim(f'(for {_age(cause.since)})')}" if cause.since else ""
    lines = [f"{style.bold(title)} {_line(cause.text)}{age}"]
    lines += [f"  {style.dim(_line(text))}" for text in cause.evidence if _adds(text, cause)]
    return [*lines, f"  next: {style.accent(_line(cause.command))}"]


def _adds(evidence: str, cause: Cause) -> bool:
    """Whether a piece of evidence says more than the sentence, which often is its end."""
    text, sentence = _line(evidence), _line(cause.sentence)
    return text.partition(": ")[2] not in sentence and not text.endswith(sentence[-_SAME:])


def _blocker(blocker: Blocker, style: Style) -> list[str]:
    age = f" {style.dim(f'(for {_age(blocker.since)})')}" if blocker.since else ""
    return [
        f"  {_line(blocker.ref.label)}: {_line(blocker.sentence)}{age}",
        f"    next: {style.accent(_line(blocker.command))}",
    ]


def _line(text: str) -> str:
    return " ".join(harmless(text).split())


def _age(timestamp: str) -> str:
    return since(timestamp, datetime.now(UTC))


def as_json(explanation: Explanation | None, fields: list[Object]) -> str:
    """The explanation as one object; of a field only the fields."""
    import orjson

    value: Object = {} if explanation is None else _plain(explanation)
    if fields:
        value["fields"] = fields
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"


def _plain(value: Any) -> Any:
    """A NamedTuple as an object with the API's spelling of its fields."""
    if isinstance(value, Reference):
        return {
            "apiVersion": value.api_version,
            "kind": value.kind,
            "name": value.name,
            "namespace": value.namespace,
        }
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
