"""The objects of one run: each is written once, and everything else refers to it by its number."""

from __future__ import annotations

from typing import Any

from crossply.values import Object


class ObjectTable:
    """The objects in the order of their numbers."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._by_id: dict[int, int] = {}
        self._by_version: dict[tuple[str, str], int] = {}
        self._last_composite: int | None = None

    def ref(self, obj: Any) -> int:
        """The number of an object in the table of objects."""
        index = self._by_id.get(id(obj))
        if index is None:
            index = self._by_id[id(obj)] = len(self.objects)
            self.objects.append(obj)
        return index

    def live(self, obj: Object) -> int:
        """The number of an object as the API server has it: of one version there is one content."""
        index = self._by_id.get(id(obj))
        if index is not None:
            return index
        metadata = obj.get("metadata") or {}
        uid, version = metadata.get("uid"), metadata.get("resourceVersion")
        if not uid or not version:
            return self.ref(obj)
        index = self._by_version.setdefault((uid, version), len(self.objects))
        if index == len(self.objects):
            self.objects.append(obj)
        self._by_id[id(obj)] = index
        return index

    def composite(self, obj: Object) -> int:
        """The number of the composite resource, which is often what it was before.

        Some views of one version have no status, so that its content is compared.
        """
        index = self._by_id.get(id(obj))
        if index is None:
            last = self._last_composite
            index = last if last is not None and self.objects[last] == obj else self.ref(obj)
            self._by_id[id(obj)] = index
        self._last_composite = index
        return index

    def optional(self, obj: Any) -> int | None:
        return None if obj is None else self.ref(obj)
