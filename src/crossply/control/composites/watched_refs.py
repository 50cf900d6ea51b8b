"""`status.watchedResourceRefs`: its kind gets the field when a function first wants something watched."""

from __future__ import annotations

from crossply.control.kinds import CRD
from crossply.control.managed_fields import CROSSPLANE as MANAGER
from crossply.control.plane import Plane
from crossply.kube.kind import Kind
from crossply.schema.watched_refs import has_watched_refs, with_watched_refs


class WatchedRefsField:
    """The field of one kind."""

    def __init__(self, plane: Plane, kind: Kind) -> None:
        self._plane = plane
        self._kind = kind
        self._is_served = False

    async def is_served(self) -> bool:
        """Whether the API server knows the field. If not, it is added, and served soon."""
        if not self._is_served:
            crd = await self._plane.as_installer.get(CRD, self._kind.resource)
            self._is_served = crd is not None and has_watched_refs(crd)
            if crd is not None and not self._is_served:
                version = crd["metadata"]["resourceVersion"]
                body = {
                    "metadata": {"resourceVersion": version},
                    "spec": {"versions": with_watched_refs(crd)["spec"]["versions"]},
                }
                await self._plane.as_installer.patch_merge(CRD, self._kind.resource, body, "", MANAGER)
        return self._is_served
