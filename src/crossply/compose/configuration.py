"""Making a composite resource ready to be composed: its label and, where asked, its Secret's place.

Infrastructure also takes over how it is reclaimed, where it does not say so itself.
"""

from __future__ import annotations

from crossply.compose.errors import IncompatibleComposition
from crossply.compose.machinery import INFRASTRUCTURE, Machinery
from crossply.compose.metadata import COMPOSITE_LABEL, labels_of, metadata_of, name_of, uid_of
from crossply.kinds.composition import Composition
from crossply.values import Object

_HOME = "crossplane-system"


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
        # It was made for a requirement: nobody else will say where its secret goes. Its UID is what designs
        # call the secrets of composed resources by.
        return {"name": name_of(xr), "namespace": _HOME}
    return None


def _with_reclaim_policy(xr: Object, machinery: Machinery, composition: Composition) -> Object:
    policy = composition.reclaim_policy
    if machinery != INFRASTRUCTURE or not policy or machinery.read(xr, "reclaimPolicy"):
        return xr
    return machinery.with_field(xr, "reclaimPolicy", policy)
