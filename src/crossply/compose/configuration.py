"""Making a composite resource ready to be composed: its label and, where asked, its Secret's place."""

from __future__ import annotations

from crossply.compose.errors import IncompatibleComposition
from crossply.compose.machinery import Machinery
from crossply.compose.metadata import COMPOSITE_LABEL, labels_of, metadata_of, name_of, uid_of
from crossply.kinds.composition import Composition
from crossply.values import Object


def configure(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    """The configured composite resource; the same object when nothing was missing."""
    return _with_connection_secret(_with_label(xr), machinery, composition)


def check_compatible(xr: Object, composition: Composition) -> None:
    """Refuse a Composition that composes another kind."""
    if (xr.get("apiVersion"), xr.get("kind")) != tuple(composition.composite):
        raise IncompatibleComposition(
            "cannot configure composite resource: referenced composition is not compatible with this "
            "composite resource"
        )


def _with_label(xr: Object) -> Object:
    labels = labels_of(xr)
    if labels.get(COMPOSITE_LABEL) or not name_of(xr):
        # A nested composite resource carries its root's name already; all names derive from the root.
        return xr
    labels = {**labels, COMPOSITE_LABEL: name_of(xr)}
    return {**xr, "metadata": {**metadata_of(xr), "labels": labels}}


def _with_connection_secret(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    namespace = composition.connection_secrets_namespace
    if not machinery.legacy or not namespace or machinery.read(xr, "writeConnectionSecretToRef"):
        return xr
    ref = {"name": uid_of(xr), "namespace": namespace}
    return machinery.with_field(xr, "writeConnectionSecretToRef", ref)
