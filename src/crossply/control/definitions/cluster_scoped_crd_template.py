"""The CRD of a cluster-scoped kind with one version: what all kinds of our own have in common."""

from __future__ import annotations

from collections.abc import Sequence

from crossply.kube.kind import Kind
from crossply.values import Object


def cluster_crd(
    kind: Kind, schema: Object, columns: Sequence[Object], *, has_status: bool = True, short_name: str = ""
) -> Object:
    """A CRD; `columns` are what kubectl prints."""
    names: Object = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "categories": ["crossplane"],
    }
    if short_name:
        names["shortNames"] = [short_name]
    version: Object = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": list(columns),
    }
    if has_status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {"group": kind.group, "scope": "Cluster", "names": names, "versions": [version]},
    }
