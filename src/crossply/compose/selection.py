"""Which Composition, and which revision of it, a composite resource uses.

Pure decisions over lists that the caller has read. `choose` picks one of several equally good names, so
that chance, too, comes from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import SelectionError
from crossply.compose.object_metadata import string_map
from crossply.kinds.composition import CompositionError, TypeRef, composite_type
from crossply.kinds.fields import Fields
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.definition import Definition


class Selected(NamedTuple):
    """The name that was chosen, and whether it differs from what the composite resource says now."""

    name: str
    changed: bool


class CompositionChoice(NamedTuple):
    """As much of a Composition as selection looks at."""

    name: str
    composite: TypeRef
    labels: Mapping[str, str]


def composition_choice(obj: Object) -> CompositionChoice:
    """Read what selection needs of a Composition, whose steps may be unreadable."""
    root = Fields(obj, error=CompositionError)
    metadata = root.object("metadata")
    composite = composite_type(root.object("spec"))
    return CompositionChoice(metadata.text("name"), composite, metadata.string_map("labels"))


def select_composition(
    xr: Object,
    machinery: Machinery,
    compositions: Iterable[CompositionChoice],
    choose: Callable[[Sequence[str]], str],
    *,
    enforced: str = "",
    default: str = "",
) -> Selected:
    """Enforced beats all, then what the resource says, then the default, then the selector."""
    current = machinery.name_in(xr, "compositionRef")
    if enforced:
        return Selected(enforced, enforced != current)
    if current:
        return Selected(current, changed=False)
    selector = machinery.read(xr, "compositionSelector")
    if default and selector is None:
        return Selected(default, changed=True)
    names = [c.name for c in compositions if _fits(xr, c, match_labels(selector))]
    if not names:
        raise SelectionError("no compatible Compositions found")
    return Selected(choose(names), changed=True)


def match_labels(selector: object) -> dict[str, str]:
    """The labels a selector asks for; `matchExpressions` counts for nothing, as everywhere here."""
    return string_map(selector.get("matchLabels")) if isinstance(selector, dict) else {}


def labels_match(required: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether an object with these labels is selected."""
    return all(labels.get(key) == value for key, value in required.items())


def _fits(xr: Object, composition: CompositionChoice, required_labels: Mapping[str, str]) -> bool:
    kind = (xr.get("apiVersion"), xr.get("kind"))
    return kind == tuple(composition.composite) and labels_match(required_labels, composition.labels)


class RevisionChoice(NamedTuple):
    """As much of a CompositionRevision as selection looks at."""

    name: str
    number: int
    labels: Mapping[str, str]


def select_revision(xr: Object, machinery: Machinery, revisions: Iterable[RevisionChoice]) -> Selected:
    """The pinned revision under the Manual policy, else the newest that the selector admits.

    `revisions` are those of the selected Composition. A Manual policy without a reference takes the newest
    once and pins it; the revision selector counts only under an explicit Automatic policy.
    """
    current = machinery.name_in(xr, "compositionRevisionRef")
    policy = machinery.read(xr, "compositionUpdatePolicy")
    if current and policy == "Manual":
        return Selected(current, changed=False)
    required_labels: dict[str, str] = {}
    if policy == "Automatic":
        required_labels = match_labels(machinery.read(xr, "compositionRevisionSelector"))
    newest = max(
        (r for r in revisions if labels_match(required_labels, r.labels)),
        key=lambda r: r.number,
        default=None,
    )
    if newest is None:
        raise SelectionError("no compatible CompositionRevisions found")
    return Selected(newest.name, newest.name != current)


def is_pinned(xr: Object, machinery: Machinery) -> bool:
    """Whether a composite resource keeps to the revision that it names."""
    manual = machinery.read(xr, "compositionUpdatePolicy") == "Manual"
    return manual and bool(machinery.name_in(xr, "compositionRevisionRef"))


def default_revision_selector(xr: Object, machinery: Machinery, definition: Definition) -> Object | None:
    """The definition's revision selector, for an XR that has neither a selector nor a revision yet."""
    labels = definition.default_revision_selector
    if labels is None or machinery.name_in(xr, "compositionRevisionRef"):
        return None
    if machinery.read(xr, "compositionRevisionSelector") is not None:
        return None
    return {"matchLabels": labels}
