"""Authentication and authorization for recorded runs, both by the API server.

A viewer shows a bearer token, which a TokenReview checks, or a client certificate, which was checked when the
connection was made. A user who may `get` an object may see its runs. Answers are kept for a short while.

Questions are asked with the identity of the control plane, which reconciles need as well: one at a time is
asked about each viewer, and few tokens at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.runs.model import Subject
from crossply.values import Object
from crossply.values.api_version import split_api_version

AUDIENCE = "crossply-runs"
"""The audience of tokens that are made for nothing but this."""
_CACHE_SECONDS = 30.0
_MOST_CACHED = 10_000
_TOKENS_AT_ONCE = 4
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
        self._tokens = asyncio.Semaphore(_TOKENS_AT_ONCE)
        self._turns: WeakValueDictionary[Viewer, asyncio.Lock] = WeakValueDictionary()

    async def authenticate(self, token: str) -> Viewer | None:
        """Who a token belongs to; None where it is not valid."""
        if not token.isascii():
            return None
        key = hashlib.sha256(token.encode()).digest()
        viewer: Viewer | None
        if (known := self._cached(key)) is None:
            async with self._tokens:
                if (known := self._cached(key)) is None:
                    viewer = await self._review(token, ()) or await self._review(token, (AUDIENCE,))
                    known = self._cache(key, (viewer,))
        viewer = known[0]
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
        group, version = split_api_version(subject.api_version)
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
        if (known := self._cached(key)) is None:
            async with self._turns.setdefault(viewer, asyncio.Lock()):
                if (known := self._cached(key)) is None:
                    known = self._cache(key, (await self._is_allowed(viewer, attributes),))
        return bool(known[0])

    async def _is_allowed(self, viewer: Viewer, attributes: dict[str, str]) -> bool:
        spec = {
            "user": viewer.name,
            "groups": list(viewer.groups),
            "uid": viewer.uid,
            "extra": {name: list(values) for name, values in viewer.extra},
            "resourceAttributes": attributes,
        }
        status = await self._ask("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", spec)
        return bool(status.get("allowed")) and not status.get("denied")

    async def _ask(self, group: str, kind: str, plural: str, spec: Object) -> Object:
        body = {"apiVersion": f"{group}/v1", "kind": kind, "spec": spec}
        reply = await self._client.request("POST", f"/apis/{group}/v1/{plural}", body=body)
        status: Object = orjson.loads(reply.data).get("status") or {}
        return status

    def _cached(self, key: Any) -> tuple[Any, ...] | None:
        entry = self._known.get(key)
        if entry is None or entry[0] < self._clock():
            return None
        answer: tuple[Any, ...] = entry[1]
        return answer

    def _cache(self, key: Any, answer: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(self._known) >= _MOST_CACHED:
            self._known.clear()
        self._known[key] = (self._clock() + _CACHE_SECONDS, answer)
        return answer


def certificate_viewer(certificate: Any) -> Viewer | None:
    """Whom a client certificate is about, as Kubernetes reads it; `certificate` is what `ssl` says of it."""
    fields = [pair for group in (certificate or {}).get("subject", ()) for pair in group]
    names = [value for key, value in fields if key == "commonName"]
    if not names:
        return None
    groups = tuple(value for key, value in fields if key == "organizationName")
    return Viewer(names[-1], (*groups, _AUTHENTICATED))
