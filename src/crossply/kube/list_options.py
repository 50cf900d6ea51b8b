"""Which objects of a kind a watch is about, and how much of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crossply.kube.request_types import JSON
from crossply.values import Object

METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Selection(NamedTuple):
    """Everything of a kind, unless it says otherwise."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    """Leave out all but metadata: enough to know that something changed, and little to remember."""
    reduce: Callable[[Object], Object] | None = None
    """What an informer remembers of each object, in the same form, with its metadata; None for all of it."""

    @property
    def query(self) -> dict[str, str]:
        """The selectors as the API spells them."""
        selectors = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: value for key, value in selectors.items() if value}

    @property
    def accept(self) -> str:
        """The media type that objects are requested in."""
        return METADATA if self.metadata_only else JSON

    @property
    def accept_list(self) -> str:
        """The media type that a list of them is requested in."""
        return METADATA_LIST if self.metadata_only else JSON


EVERYTHING = Selection()
