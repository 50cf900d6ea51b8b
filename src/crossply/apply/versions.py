"""The API versions of a kind, for owners who speak different ones.

Custom resources convert by their apiVersion alone (strategy None) unless a caller brings a conversion. An
object is checked again in the version it was converted to: a field that this version does not know ends the
write, as it does in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from crossply.apply.errors import NotTyped
from crossply.apply.types import Type
from crossply.apply.validate import check
from crossply.values import Object


def relabelled(object_: Object, api_version: str) -> Object:
    """Convert as the strategy None does."""
    return {**object_, "apiVersion": api_version}


class Version(NamedTuple):
    """One version: how its values merge, and how an object gets there."""

    api_version: str
    type: Type
    conversion: Callable[[Object, str], Object] = relabelled

    def convert(self, object_: Object, story: str = "") -> Object:
        """Return an object in this version, checked when it came from another; the story tells what for."""
        if object_.get("apiVersion") == self.api_version:
            return object_
        converted = self.conversion(object_, self.api_version)
        try:
            check(converted, self.type)
        except NotTyped as error:
            raise (error.within(story) if story else error) from None
        return converted


Versions = Mapping[str, Version]
