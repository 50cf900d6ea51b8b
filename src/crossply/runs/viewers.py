"""Who asks for recorded runs, and what they may see: the API server is asked both.

A viewer shows a bearer token, which a TokenReview checks, or a client certificate, which was checked when the
connection was made. Whoever may `get` an object may see its runs. Answers are kept for a short while.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.runs.model import Subject
from crossply.values import Object

AUDIENCE = "crossply-runs"
"""The audience of tokens that are made for nothing but this."""
_KEPT_SECONDS = 30.0
_MOST_KEPT = 10_000
_AUTHENTICATED = "system:authenticated"


class Viewer(NamedTuple):
    """A user as RBAC knows it."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Viewers:
    """Authenticates viewers, and knows what they may get."""

    def __init__(
        self, client: Client, discovery: Discovery, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._discovery = discovery
        self._clock = clock
        self._known: dict[Any, tuple[float, Any]] = {}

    async def authenticate(self, token: str) -> Viewer | None:
        """Who a token belongs to; None where it is not valid."""
        key = hashlib.sha256(token.encode()).digest()
        known = self._kept(key)
        if known is not None:
            kept: Viewer | None = known[0]
            return kept
        viewer = await self._review(token, ()) or await self._review(token, (AUDIENCE,))
        self._keep(key, (viewer,))
        return viewer

    async def _review(self, token: str, audiences: tuple[str, ...]) -> Viewer | None:
        spec: Object = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
        status = await self._ask("authentication.k8s.io", "TokenReview", "tokenreviews", spec)
        user = status.get("user") or {}
        if not status.get("authenticated") or not user.get("username"):
            return None
        if audiences and AUDIENCE not in (status.get("audiences") or ()):
            return None
        extra = tuple((key, tuple(values)) for key, values in (user.get("extra") or {}).items())
        return Viewer(user["username"], tuple(user.get("groups") or ()), user.get("uid", ""), extra)

    async def may_see(self, viewer: Viewer, subject: Subject) -> bool:
        """Whether a viewer may get the object of a run."""
        group, _, version = subject.api_version.rpartition("/")
        try:
            plural = (await self._discovery.kind_for(subject.api_version, subject.kind)).plural
        except (UnknownKind, CrossplyError):
            plural = subject.kind.lower() + "s"  # its kind is gone; the rule that granted it may not be
        resource = {"verb": "get", "group": group, "version": version, "resource": plural}
        if await self._may(viewer, resource):
            return True
        place = {"namespace": subject.namespace} if subject.namespace else {}
        return await self._may(viewer, {**resource, **place, "name": subject.name})

    async def _may(self, viewer: Viewer, attributes: dict[str, str]) -> bool:
        key = (viewer, *sorted(attributes.items()))
        known = self._kept(key)
        if known is not None:
            return bool(known[0])
        spec = {
            "user": viewer.name,
            "groups": list(viewer.groups),
            "uid": viewer.uid,
            "extra": {name: list(values) for name, values in viewer.extra},
            "resourceAttributes": attributes,
        }
        status = await self._ask("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", spec)
        allowed = bool(status.get("allowed")) and not status.get("denied")
        self._keep(key, (allowed,))
        return allowed

    async def _ask(self, group: str, kind: str, plural: str, spec: Object) -> Object:
        body = {"apiVersion": f"{group}/v1", "kind": kind, "spec": spec}
        reply = await self._client.request("POST", f"/apis/{group}/v1/{plural}", body=body)
        status: Object = orjson.loads(reply.data).get("status") or {}
        return status

    def _kept(self, key: Any) -> tuple[Any, ...] | None:
        entry = self._known.get(key)
        if entry is None or entry[0] < self._clock():
            return None
        answer: tuple[Any, ...] = entry[1]
        return answer

    def _keep(self, key: Any, answer: tuple[Any, ...]) -> None:
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[key] = (self._clock() + _KEPT_SECONDS, answer)


def certificate_viewer(certificate: Any) -> Viewer | None:
    """Whom a client certificate is about, as Kubernetes reads it; `certificate` is what `ssl` says of it."""
    fields = [pair for group in (certificate or {}).get("subject", ()) for pair in group]
    names = [value for key, value in fields if key == "commonName"]
    if not names:
        return None
    groups = tuple(value for key, value in fields if key == "organizationName")
    return Viewer(names[-1], (*groups, _AUTHENTICATED))
