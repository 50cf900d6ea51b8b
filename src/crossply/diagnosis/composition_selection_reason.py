"""Why an XR uses this Composition and this revision of it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.selection import match_labels
from crossply.kinds.definition import Definition
from crossply.values import Object

_ENGINES = ("crossply", "crossplane")
"""The field managers of control planes."""


class Selection(NamedTuple):
    """What an XR is composed by, each with the reason."""

    composition: str
    revision: str


def explain_selection(
    xr: Object,
    machinery: Machinery,
    definition: Definition,
    compositions: Sequence[Object],
    revisions: Sequence[Object],
) -> Selection:
    """Explain it by the rules of `compose.selection`.

    `compositions` are all that there are, `revisions` those of the Composition that the XR names.
    """
    name = machinery.name_in(xr, "compositionRef")
    return Selection(
        _composition(xr, machinery, definition, compositions, name),
        _revision(xr, machinery, definition, revisions) if name else "",
    )


def _composition(
    xr: Object, machinery: Machinery, definition: Definition, compositions: Sequence[Object], name: str
) -> str:
    fitting = [composition for composition in compositions if _is_for(composition, xr)]
    names = sorted(_name(composition) for composition in fitting)
    selector = match_labels(machinery.read(xr, "compositionSelector"))
    if not name:
        return _none_selected(xr, selector, fitting, compositions)
    reasons = []
    if definition.enforced_composition == name:
        reasons.append("enforced by its definition (enforcedCompositionRef)")
    elif selector:
        reasons.append(f"its compositionSelector matched {_labels(selector)}")
    elif definition.default_composition == name:
        reasons.append("the default of its definition (defaultCompositionRef)")
    elif not _is_chosen(xr, machinery):
        reasons.append("named by its compositionRef")
    elif names == [name]:
        reasons.append(f"the only Composition for {xr.get('kind')}")
    else:
        reasons.append(
            f"chosen at random when it was created; for {xr.get('kind')} there are {', '.join(names[:5])} "
            "now, so name one or select it by labels"
        )
    if name not in [_name(composition) for composition in compositions]:
        reasons.append(_missing(name, names))
    elif name not in names:
        reasons.append(f"it is not for {xr.get('kind')}: see its compositeTypeRef")
    return f"Composition {name}: {'; '.join(reasons)}"


def _missing(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, 3, 0.5) or list(names[:3])
    return "it does not exist" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _none_selected(
    xr: Object, selector: dict[str, str], fitting: Sequence[Object], compositions: Sequence[Object]
) -> str:
    if selector and fitting:
        labels = "; ".join(
            f"{_name(composition)} has {_labels(_labels_of(composition)) or 'no labels'}"
            for composition in fitting[:3]
        )
        return f"no Composition: its compositionSelector wants {_labels(selector)}, but {labels}"
    if fitting:
        return "no Composition is selected yet"
    others = sorted(_name(composition) for composition in compositions)[:3]
    known = f" (there are {', '.join(others)} for other kinds)" if others else ""
    return f"no Composition is for {xr.get('apiVersion')} {xr.get('kind')}{known}"


def _revision(xr: Object, machinery: Machinery, definition: Definition, revisions: Sequence[Object]) -> str:
    current = machinery.name_in(xr, "compositionRevisionRef")
    policy = machinery.read(xr, "compositionUpdatePolicy") or definition.default_update_policy
    numbers = {_name(revision): _number(revision) for revision in revisions}
    newest = max(numbers, key=lambda name: numbers[name], default="")
    selector = match_labels(machinery.read(xr, "compositionRevisionSelector"))
    if not current:
        return "no revision is selected yet"
    shown = f"revision {numbers[current]} ({current})" if current in numbers else f"revision {current}"
    behind = f"; the newest is {numbers[newest]} ({newest})" if newest and newest != current else ""
    if policy == "Manual":
        gone = "" if current in numbers else ", and it does not exist any more"
        return f"{shown}: pinned, compositionUpdatePolicy is Manual{gone}{behind}"
    if selector:
        return (
            f"{shown}: the newest that its compositionRevisionSelector admits ({_labels(selector)}){behind}"
        )
    if not behind:
        return f"{shown}: the newest, compositionUpdatePolicy is {policy}"
    return f"{shown}: compositionUpdatePolicy is {policy}{behind}, which it takes at its next reconcile"


def _is_chosen(xr: Object, machinery: Machinery) -> bool:
    """Whether the control plane wrote the compositionRef, not a user."""
    for entry in xr["metadata"].get("managedFields") or ():
        fields = entry.get("fieldsV1") or {}
        for key in (*machinery.path, "compositionRef"):
            fields = fields.get(f"f:{key}") or {}
        if fields:
            return entry.get("manager") in _ENGINES
    return False


def _is_for(composition: Object, xr: Object) -> bool:
    type_ref = (composition.get("spec") or {}).get("compositeTypeRef") or {}
    return (type_ref.get("apiVersion"), type_ref.get("kind")) == (xr.get("apiVersion"), xr.get("kind"))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _labels_of(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _number(revision: Object) -> int:
    return int((revision.get("spec") or {}).get("revision") or 0)
