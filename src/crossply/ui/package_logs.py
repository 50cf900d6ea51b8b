"""The last lines that the program of a package wrote: from a file in `up`, from its pods on a cluster.

Both ask the API server whether the viewer may read logs of pods in the control plane's namespace: a file of
this machine is shown to those only who could read it in a cluster.
"""

from __future__ import annotations

import asyncio
import os

import orjson

from crossply.containers.log_file import log_path
from crossply.kube.client import Client
from crossply.kube.failures import Forbidden, KubeError
from crossply.kube.kind import Kind
from crossply.ui.page_types import MissingRight

POD = Kind("", "v1", "Pod", "pods", True)
NAMESPACE = "crossplane-system"
LINES = 300
_MAX_BYTES = 256 << 10


async def read_log(client: Client, directory: str, kind: str, name: str) -> str | None:
    """The end of a package's log; None where there is none. Raises MissingRight."""
    if directory:
        await _check_right(client)
        return await asyncio.to_thread(_tail, log_path(directory, kind, name))
    return await _pod_log(client, kind, name)


async def _check_right(client: Client) -> None:
    attributes = {"verb": "get", "resource": "pods", "subresource": "log", "namespace": NAMESPACE}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    reply = orjson.loads((await client.request("POST", path, body=review)).data)
    if not (reply.get("status") or {}).get("allowed"):
        raise MissingRight("get", "pods/log", NAMESPACE)


def _tail(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _MAX_BYTES, 0))
            text = file.read().decode("utf-8", "replace")
    except (FileNotFoundError, ValueError):
        return None
    lines = text.splitlines()
    return "\n".join((lines if size <= _MAX_BYTES else lines[1:])[-LINES:])


async def _pod_log(client: Client, kind: str, name: str) -> str | None:
    try:
        pods = await client.list(POD, NAMESPACE, f"pkg.crossplane.io/{kind.lower()}={name}")
        if not pods.items:
            return None
        pod = orjson.loads(pods.items[-1])["metadata"]["name"]
        query = {"tailLines": str(LINES), "limitBytes": str(_MAX_BYTES)}
        reply = await client.request("GET", POD.path(NAMESPACE, pod, "log"), query=query, accept="*/*")
    except Forbidden:
        raise MissingRight("get", "pods/log", NAMESPACE) from None
    except KubeError:
        return None
    return reply.data.decode("utf-8", "replace")
