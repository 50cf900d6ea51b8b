"""The fields of an object's metadata, by their types."""

from __future__ import annotations

TEXTS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
)
MAPS = ("labels", "annotations")
LISTS = ("ownerReferences", "finalizers", "managedFields")
NUMBERS = ("generation", "deletionGracePeriodSeconds")
METADATA_FIELDS = frozenset((*TEXTS, *MAPS, *LISTS, *NUMBERS))
