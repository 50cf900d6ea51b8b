"""Making a composite resource ready to be composed: finalizer, Composition, revision, label, Secret.

The order is that of Crossplane's reconciler: what was decided before a step fails is saved. So a composite
resource whose Composition does not fit names it, and one that has none has its finalizer.
"""

from __future__ import annotations

from crossply.compose.effects import Effects, FetchComposition, SelectComposition, SelectRevision
from crossply.compose.engine_field_paths import INFRASTRUCTURE, Machinery
from crossply.compose.errors import IncompatibleComposition
from crossply.compose.events import COMPOSE, SELECT
from crossply.compose.object_metadata import (
    COMPOSITE_LABEL,
    finalizers_of,
    labels_of,
    metadata_of,
    name_of,
    uid_of,
)
from crossply.compose.prepared_composition import PreparedComposition
from crossply.compose.selection import Selected, default_revision_selector
from crossply.kinds.composition import Composition
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.definition import Definition

_HOME = "crossplane-system"


class Preparation:
    """One composite resource on its way to being composed."""

    __slots__ = ("_definition", "_machinery", "messages", "reason", "xr")

    def __init__(
        self, xr: Object, machinery: Machinery, definition: Definition | None, finalizer: str | None
    ) -> None:
        self.xr = _with_finalizer(xr, finalizer)
        """The composite resource with all that was decided so far: what is to be saved, whatever happens."""
        self.messages: list[str] = []
        """What was newly selected."""
        self.reason = SELECT
        """The reason of the event about a failure."""
        self._machinery = machinery
        self._definition = definition

    def prepare(self) -> Effects[PreparedComposition]:
        """Select what to compose by; raises why that cannot be."""
        composition = yield from self._select_composition()
        self.reason = COMPOSE
        revision = yield from self._select_revision(composition)
        prepared_composition: PreparedComposition = yield FetchComposition(revision)
        self.xr = with_label(self.xr)
        check_compatible(self.xr, prepared_composition.composition)
        if self._definition is not None:
            from crossply.compose.connection_secret_key_coverage import (
                check_contract,
            )  # only where a definition is known

            check_contract(self._definition, prepared_composition.composition)
        self.xr = configure(self.xr, self._machinery, prepared_composition.composition)
        return prepared_composition

    def _select_composition(self) -> Effects[str]:
        selected: Selected = yield SelectComposition(self.xr)
        if selected.changed and not self._is_default():
            self._set_composition(selected.name)
        return selected.name

    def _is_default(self) -> bool:
        """Whether the definition's default is selected: it is saved only once it turned out to exist."""
        definition = self._definition
        if definition is None or definition.enforced_composition or not definition.default_composition:
            return False
        return self._machinery.read(self.xr, "compositionSelector") is None

    def _select_revision(self, composition: str) -> Effects[str]:
        machinery = self._machinery
        if self._definition is not None:
            selector = default_revision_selector(self.xr, machinery, self._definition)
            if selector is not None:
                self.xr = machinery.with_field(self.xr, "compositionRevisionSelector", selector)
        selected: Selected = yield SelectRevision(self.xr, composition)
        if not machinery.name_in(self.xr, "compositionRef"):
            self._set_composition(composition)
        if selected.changed:
            self.xr = machinery.with_field(self.xr, "compositionRevisionRef", {"name": selected.name})
            self.messages.append(f"Selected composition revision: {selected.name}")
        return selected.name

    def _set_composition(self, name: str) -> None:
        self.xr = self._machinery.with_field(self.xr, "compositionRef", {"name": name})
        self.messages.append(f"Successfully selected composition: {name}")


def _with_finalizer(xr: Object, finalizer: str | None) -> Object:
    finalizers = finalizers_of(xr)
    if finalizer is None or finalizer in finalizers:
        return xr
    return {**xr, "metadata": {**metadata_of(xr), "finalizers": [*finalizers, finalizer]}}


def configure(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    """The configured composite resource; the same object when nothing was missing."""
    xr = _with_connection_secret(with_label(xr), machinery, composition)
    return _with_reclaim_policy(xr, machinery, composition)


def check_compatible(xr: Object, composition: Composition) -> None:
    """Refuse a Composition that composes another kind."""
    if (xr.get("apiVersion"), xr.get("kind")) != tuple(composition.composite):
        raise IncompatibleComposition(
            "cannot configure composite resource: referenced composition is not compatible with this "
            "composite resource"
        )


def with_label(xr: Object) -> Object:
    """The composite resource with the label that the names of all it is made of derive from."""
    labels = labels_of(xr)
    if labels.get(COMPOSITE_LABEL) or not name_of(xr):
        # A nested composite resource carries its root's name already; all names derive from the root.
        return xr
    labels = {**labels, COMPOSITE_LABEL: name_of(xr)}
    return {**xr, "metadata": {**metadata_of(xr), "labels": labels}}


def _with_connection_secret(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    if not machinery.publishes or machinery.read(xr, "writeConnectionSecretToRef"):
        return xr
    ref = _secret_reference(xr, machinery, composition.connection_secrets_namespace)
    return machinery.with_field(xr, "writeConnectionSecretToRef", ref) if ref else xr


def _secret_reference(xr: Object, machinery: Machinery, namespace: str | None) -> Object | None:
    if namespace:
        return {"name": uid_of(xr), "namespace": namespace}
    if machinery == INFRASTRUCTURE and machinery.read(xr, "requirementRef"):
        # It was made for a requirement: nothing else says where its Secret goes. Its UID is what designs
        # call the secrets of composed resources by.
        return {"name": name_of(xr), "namespace": _HOME}
    return None


def _with_reclaim_policy(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    policy = composition.reclaim_policy
    if machinery != INFRASTRUCTURE or not policy or machinery.read(xr, "reclaimPolicy"):
        return xr
    return machinery.with_field(xr, "reclaimPolicy", policy)
