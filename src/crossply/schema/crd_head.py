"""The outside of a CRD: what it is called, who controls it, and the status nobody has written yet."""

from __future__ import annotations

from crossply.values import Object


def crd_head(name: str, owner: Object, labels: dict[str, str], annotations: dict[str, str]) -> Object:
    """The type and metadata of a CRD that a definition controls."""
    metadata: Object = {
        "name": name,
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
    }
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
    }


def empty_status() -> Object:
    """The status Go writes for a CRD that no API server has seen."""
    return {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": None}
