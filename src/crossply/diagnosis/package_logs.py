"""The last lines that a package wrote: from the data directory of `crossply up`, or from its Pods."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind

LINES = 5
_TAIL_BYTES = 64 << 10
_POD = Kind("", "v1", "Pod", "pods", True)
_NAMESPACE = "crossplane-system"
_STARTED = re.compile(r"crossply: \S+ started as ")
"""A line of the supervisor, which says nothing about what is wrong."""


class PackageLogs:
    """Reads logs; a package that has none wrote nothing."""

    def __init__(self, client: Client, data: str | None) -> None:
        """`data` is the data directory of a control plane on this machine."""
        self._client = client
        self._data = data

    async def tail(self, kind: str, name: str) -> Sequence[str]:
        """The last lines of `provider` or `function` NAME."""
        local = self._local(kind, name) if self._data else []
        return local or await self._of_pod(kind, name)

    def _local(self, kind: str, name: str) -> list[str]:
        path = os.path.join(self._data or "", "logs", kind, f"{name}.log")
        try:
            with open(path, "rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - _TAIL_BYTES, 0))
                return _last_lines(file.read())
        except (OSError, ValueError):
            return []

    async def _of_pod(self, kind: str, name: str) -> list[str]:
        labels = f"pkg.crossplane.io/{kind}={name}"
        try:
            pods = await self._client.list(_POD, _NAMESPACE, labels)
            for item in pods.items[:1]:
                path = _POD.path(_NAMESPACE, orjson.loads(item)["metadata"]["name"], "log")
                reply = await self._client.request("GET", path, query={"tailLines": str(LINES)}, accept="*/*")
                return _last_lines(reply.data)
        except KubeError:
            pass
        return []


def _last_lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").splitlines()
    written = [line.rstrip()[:1000] for line in lines if line.strip() and not _STARTED.match(line)]
    return written[-LINES:]
