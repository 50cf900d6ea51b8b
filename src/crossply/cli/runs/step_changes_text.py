"""What a step changed of the desired state and of the context, and where each field comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.cli.runs.field_lines import field_lines, indented
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.provenance.source_wording import one_line
from crossply.runs.model import StepRun
from crossply.values import Object
from crossply.values.differences import MISSING, Item, Path, differences
from crossply.values.field_path import to_string

_COMPOSITE = "composite resource"
_NAMED_BY = ("name", "type")


def step_changes(step: StepRun, style: Style, provenance: Provenance | None = None) -> Iterator[str]:
    """A line for each resource that a step added, changed or dropped, and for each of its fields."""
    before, after = _desired(step.desired_before), _desired(step.desired_after)
    for title in {**before, **after}:
        old, new = before.get(title, MISSING), after.get(title, MISSING)
        fields = differences(old, new)
        if not fields and old is not MISSING and new is not MISSING:
            continue
        sign = "+" if old is MISSING else "-" if new is MISSING else "~"
        yield style.sign(sign, f"{sign} {harmless(title)}")
        if new is not MISSING:
            yield from indented(field_lines(fields, style, _origins(step, title, new, provenance)), 1)
    context = differences(step.context_before, step.context_after)
    if context:
        yield style.sign("~", "~ context")
        yield from indented(field_lines(context, style), 1)


def _desired(state: Object) -> dict[str, Any]:
    """A desired state by what users call its parts."""
    parts: dict[str, Any] = {}
    composite = _shown(state.get("composite"))
    if composite:
        parts[_COMPOSITE] = composite
    for name, resource in (state.get("resources") or {}).items():
        parts[f"resource {name}"] = _shown(resource)
    return parts


def _shown(resource: Any) -> Object:
    """A resource of a state as its object, with what functions say beside it."""
    if not isinstance(resource, dict):
        return {}
    shown = dict(resource.get("resource") or {})
    for key in ("ready", "connectionDetails"):
        if resource.get(key):
            shown[f"({key})"] = resource[key]
    return shown


def _origins(step: StepRun, title: str, obj: Object, provenance: Provenance | None) -> Callable[[Path], str]:
    """Where the fields of a desired object come from, as far as this step set them last."""
    resource = COMPOSITE_STATUS if title == _COMPOSITE else title.removeprefix("resource ")

    def origin(path: Path) -> str:
        if provenance is None or not path or str(path[0]).startswith("("):
            return ""
        source = provenance.of(resource, to_string(_by_index(obj, path)))
        if source is None or source.step != step.name or source.how == "function":
            return ""
        return one_line(source)

    return origin


def _by_index(obj: Any, path: Path) -> tuple[str | int, ...]:
    """A path in which items of lists are known by their index, not by their name."""
    plain: list[str | int] = []
    for segment in path:
        if isinstance(segment, Item) and isinstance(obj, list):
            segment = next((index for index, item in enumerate(obj) if _is_called(item, segment)), 0)
        elif isinstance(segment, Item):
            segment = str(segment)
        plain.append(segment)
        obj = _child(obj, segment)
    return tuple(plain)


def _is_called(item: Any, name: str) -> bool:
    return isinstance(item, dict) and any(item.get(key) == name for key in _NAMED_BY)


def _child(obj: Any, segment: str | int) -> Any:
    if isinstance(obj, dict):
        return obj.get(segment)
    if isinstance(obj, list) and isinstance(segment, int) and segment < len(obj):
        return obj[segment]
    return None
