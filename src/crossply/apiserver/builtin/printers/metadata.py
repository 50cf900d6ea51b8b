"""Cells that come from an object's metadata: its name and its age."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.tables.human_duration import since
from crossply.values import Object


def name_of(obj: Object) -> str:
    """The object's name."""
    name: str = (obj.get("metadata") or {}).get("name", "")
    return name


def age_of(obj: Object, now: datetime) -> str:
    """How long ago the object was made."""
    return since((obj.get("metadata") or {}).get("creationTimestamp"), now)


def name_and_creation(obj: Object, now: datetime) -> list[Any]:
    """The cells of a kind that says nothing about itself."""
    return [name_of(obj), (obj.get("metadata") or {}).get("creationTimestamp")]


def name_and_age(obj: Object, now: datetime) -> list[Any]:
    """The cells of a kind of which only the age is of interest."""
    return [name_of(obj), age_of(obj, now)]


def is_going(obj: Object) -> bool:
    """Whether the object is being deleted."""
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))
