"""A plan as text: a compact tree and a summary line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from crossply.cli.explain.field_sources_text import source_line
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import PLAIN, Style
from crossply.cli.plan.json_output import summary
from crossply.control.kinds import REVISION
from crossply.control.planning.change_tree import CREATE, NONE, Node, label_of
from crossply.control.planning.field_changes import Field
from crossply.control.planning.plan_entry_point import PlanResult
from crossply.kube.core_kinds import CLUSTER_ROLE, CRD
from crossply.values import Object
from crossply.values.differences import MISSING
from crossply.values.shortened_text import shortened, shortened_pair

MOST_FIELDS = 25
LONGEST_VALUE = 120

_SIGNS = {"create": "+", "change": "~", "delete": "-", "none": "="}


class Text:
    """Writes one plan."""

    def __init__(self, result: PlanResult, style: Style = PLAIN) -> None:
        self._result = result
        self._style = style

    def whole(self) -> str:
        """Everything."""
        plan = self._result.plan
        lines = [line for node in plan.others for line in self._other(node)]
        unchanged = [node for node in plan.roots if not _is_shown(node)]
        for node in plan.roots:
            if _is_shown(node):
                lines += self._tree(node, 0)
        if len(unchanged) > 3:
            lines.append(self._line(0, "=", f"{len(unchanged)} XRs unchanged"))
        else:
            lines += [self._line(0, "=", self._label(node)) for node in unchanged]
        return "".join(f"{line}\n" for line in (*lines, self._summary()))

    def _other(self, node: Node) -> Iterator[str]:
        """A planned object. Fields of new objects are in the files and not shown again."""
        if node.action == CREATE and not node.warnings and not node.error:
            return iter([self._line(0, "+", self._label(node))])
        return self._tree(node, 0)

    def _tree(self, node: Node, depth: int) -> Iterator[str]:
        sign = _SIGNS[node.action]
        if node.action == NONE:
            sign = "~" if node.is_changing else "!" if node.error else "="
        yield self._line(depth, sign, self._label(node))
        yield from self._fields(node, depth + 1)
        for note in node.notes:
            yield self._line(depth + 1, " ", self._printable(f"note: {note}"))
        for warning in node.warnings:
            yield self._line(depth + 1, "!", self._printable(f"warning: {warning}"))
        if node.error:
            yield self._line(depth + 1, "!", self._printable(f"error: {node.error}"))
        if node.hint:
            yield self._line(depth + 1, " ", self._printable(f"try: {node.hint}"))
        children = [child for child in node.children if _is_shown(child)]
        for child in children:
            yield from self._tree(child, depth + 1)
        if len(children) < len(node.children):
            yield self._line(depth + 1, "=", f"{len(node.children) - len(children)} unchanged")

    def _label(self, node: Node) -> str:
        label = self._printable(label_of(node))
        if node.resource:
            label += f" ({self._printable(node.resource)})"
        return f"{label}: {self._printable(node.reason)}" if node.reason else label

    def _fields(self, node: Node, depth: int) -> Iterator[str]:
        fields = [field for field in node.fields if _is_news(node, field)]
        for changed in fields[:MOST_FIELDS]:
            field = self._result.unknown.field(changed)
            yield self._line(depth, sign_of(field), field_text(field))
            if field.source is not None:
                yield self._line(depth + 1, " ", self._printable(source_line(field.source)))
        more = len(fields) - MOST_FIELDS
        if more > 0:
            yield self._line(depth, " ", f"and {more} more fields; -o json shows all")

    def _printable(self, text: str) -> str:
        return harmless(self._result.unknown.text(text))

    def _line(self, depth: int, sign: str, text: str) -> str:
        line = f"{sign} {text}".replace("\n", "\n" + "  " * (depth + 1))
        return "  " * depth + self._style.sign(sign, line)

    def _summary(self) -> str:
        counts = summary(self._result.plan)
        composites, resources = counts["composites"], counts["resources"]
        return "\n" + self._style.bold(f"{_composites(composites)}; {_resources(resources)}")


def _is_shown(node: Node) -> bool:
    return node.is_changing or any(child.notes or child.warnings or child.error for child in node.walk())


def _is_news(node: Node, field: Field) -> bool:
    """Whether a field shows a change that is not shown elsewhere in the tree."""
    if node.key.plural in _DERIVED:
        return False
    if "resourceRefs[" in field.path or "composedRefs[" in field.path:
        return False
    if field.path == f"status.conditions[{field.after}].type":
        return False
    if node.action != CREATE:
        return True
    return not field.path.startswith(_MACHINERY)


_DERIVED = (REVISION.plural, CRD.plural, CLUSTER_ROLE.plural)
"""What is made of a Composition or a definition, and says what that says."""
_MACHINERY = (
    "metadata.finalizers",
    "metadata.labels[crossplane.io/composite]",
    "metadata.annotations[crossplane.io/composition-resource-name]",
)


def field_text(field: Field) -> str:
    """`path: value`, or `path: before → after`."""
    return f"{harmless(field.path)}: {_values(field)}"


def sign_of(field: Field) -> str:
    """The sign of a field that came, changed or went: + ~ -."""
    if field.before is MISSING:
        return "+"
    return "-" if field.after is MISSING else "~"


def _values(field: Field) -> str:
    if field.before is MISSING:
        return _value(field.after, field.secret)
    if field.after is MISSING:
        return _value(field.before, field.secret)
    if field.secret:
        return "(secret) would change"
    before, after = shortened_pair(_json_text(field.before), _json_text(field.after), LONGEST_VALUE)
    return f"{before} → {after}"


def _value(value: object, secret: bool) -> str:
    return shortened(str(value) if secret else _json_text(value), LONGEST_VALUE)


def _json_text(value: object) -> str:
    return harmless(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def _composites(counts: Object) -> str:
    total = sum(counts[word] for word in ("create", "change", "delete", "unchanged"))
    if not total:
        return "0 XRs concerned"
    parts = [f"{counts[word]} to {word}" for word in ("create", "change", "delete") if counts[word]]
    parts += [f"{counts['unchanged']} unchanged"] if counts["unchanged"] or not parts else []
    parts += [f"{counts['fail']} failing"] if counts["fail"] else []
    return f"{total} XR{'' if total == 1 else 's'}: {', '.join(parts)}"


def _resources(counts: Object) -> str:
    return (
        f"{counts['create']} resource{'' if counts['create'] == 1 else 's'} to create, "
        f"{counts['change']} to change, {counts['delete']} to delete"
    )
