"""Making a composite resource ready to be composed: finalizer, Composition, revision, label, secret.

The order is that of Crossplane's reconciler: what was decided before a step fails is kept. So a composite
resource whose Composition does not fit says which one it is, and one that has none is held by its finalizer.
"""

from __future__ import annotations

from crossply.compose.configuration import check_compatible, configure, with_label
from crossply.compose.contract import check_contract
from crossply.compose.machinery import Machinery
from crossply.compose.recipe import Recipe
from crossply.control.composites.selecting import Compositions, default_revision_selector
from crossply.kinds.definition import Definition
from crossply.values import Object

FINALIZER = "composite.apiextensions.crossplane.io"


class Preparation:
    """One composite resource on its way to being composed."""

    def __init__(
        self, xr: Object, machinery: Machinery, definition: Definition, compositions: Compositions
    ) -> None:
        self.xr = _with_finalizer(xr)
        """The composite resource with all that was decided so far: what is to be saved, whatever happens."""
        self.selected: list[str] = []
        """What was selected anew, in sentences."""
        self._machinery = machinery
        self._definition = definition
        self._compositions = compositions

    def prepare(self, now: str) -> Recipe:
        """Select what to compose by; raises why that cannot be."""
        composition = self._select_composition()
        revision = self._select_revision(composition)
        recipe = self._compositions.recipe(revision, now)
        self.xr = with_label(self.xr)
        check_compatible(self.xr, recipe.composition)
        check_contract(self._definition, recipe.composition)
        self.xr = configure(self.xr, self._machinery, recipe.composition)
        return recipe

    def _select_composition(self) -> str:
        selected = self._compositions.select(self.xr, self._machinery, self._definition)
        if selected.changed and not self._is_default():
            self._set("compositionRef", selected.name)
            self.selected.append(f"Successfully selected composition: {selected.name}")
        return selected.name

    def _is_default(self) -> bool:
        """Whether the definition's default is selected: it is kept only once it turned out to exist."""
        definition, machinery = self._definition, self._machinery
        if definition.enforced_composition or not definition.default_composition:
            return False
        return machinery.read(self.xr, "compositionSelector") is None

    def _select_revision(self, composition: str) -> str:
        machinery = self._machinery
        selector = default_revision_selector(self.xr, machinery, self._definition)
        if selector is not None:
            self.xr = machinery.with_field(self.xr, "compositionRevisionSelector", selector)
        selected = self._compositions.select_revision(self.xr, machinery, self._definition, composition)
        if not machinery.name_in(self.xr, "compositionRef"):
            self._set("compositionRef", composition)
            self.selected.append(f"Successfully selected composition: {composition}")
        if selected.changed:
            self._set("compositionRevisionRef", selected.name)
            self.selected.append(f"Selected composition revision: {selected.name}")
        return selected.name

    def _set(self, field: str, name: str) -> None:
        self.xr = self._machinery.with_field(self.xr, field, {"name": name})


def _with_finalizer(xr: Object) -> Object:
    finalizers = xr["metadata"].get("finalizers") or []
    if FINALIZER in finalizers:
        return xr
    return {**xr, "metadata": {**xr["metadata"], "finalizers": [*finalizers, FINALIZER]}}
