"""Reading recorded runs from all replicas of a control plane, with the rights of the client's user.

A replica on this machine is queried directly, with the user's token or client certificate. One in a Pod is
asked through the API server, which keeps credentials to itself: the token goes along in a header of its own,
and a user who has only a certificate has a token made for the Pod's service account, if that is allowed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict, KubeError
from crossply.kube.tls import tls_context
from crossply.runs.compressed_run_records import read_run, read_summary
from crossply.runs.errors import NoRecorder, RunAmbiguous, RunNotFound
from crossply.runs.model import Run, RunSummary
from crossply.runs.run_server_addresses import NAMESPACE, PATH, TOKEN_HEADER, Replica, announced
from crossply.runs.viewers import AUDIENCE

_SECONDS = 15.0
_NOT_FOUND, _SEVERAL = 404, 409


class RunClient:
    """Asks every replica that records runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_runs(
        self,
        kind: str | None = None,
        namespace: str = "",
        name: str = "",
        limit: int = 50,
        *,
        uid: str = "",
        before: str = "",
    ) -> list[RunSummary]:
        """The latest runs, newest first; only of what the user may get.

        Without a kind, runs of everything; without a name, of every object of the kind. `before` is the id of
        a run: only older ones are listed. Raises `NoRecorder` where nothing can be asked.
        """
        query = {"kind": kind or "", "namespace": namespace, "name": name, "uid": uid, "before": before}
        query = {key: value for key, value in query.items() if value} | {"limit": str(limit)}
        runs: list[RunSummary] = []
        for replica, (status, data) in await self._ask_all(PATH, query):
            if status == 200:
                entries = orjson.loads(data)["runs"]
                runs += [read_summary(entry, entry["repeats"], replica.name) for entry in entries]
        return sorted(runs, key=lambda run: run.id, reverse=True)[:limit]

    async def load_run(self, id_: str) -> Run:
        """A whole run by its id, or by the beginning of it; raises `RunNotFound` and `RunAmbiguous`."""
        records: dict[str, bytes] = {}
        several: list[str] = []
        for replica, (status, data) in await self._ask_all(f"{PATH}/{quote(id_, safe='')}", {}):
            if status == 200:
                records[replica.name] = data
            elif status == _SEVERAL:
                several.append(data.decode(errors="replace"))
        if several or len(records) > 1:
            raise RunAmbiguous(f'several runs begin with "{id_}": {", ".join(several) or "in two replicas"}')
        for name, data in records.items():
            head, _, record = data.partition(b"\n")
            return read_run(record, orjson.loads(head)["repeats"], name)
        raise RunNotFound(f'there is no recorded run "{id_}"')

    async def _ask_all(self, path: str, query: Mapping[str, str]) -> list[tuple[Replica, tuple[int, bytes]]]:
        """What each replica answers that can be asked; raises NoRecorder where none can be."""
        if self._client.config.actor is not None:
            raise NoRecorder(
                "recorded runs cannot be read while impersonating another user",
                hint="use a context of the kubeconfig without as and as-groups: runs are shown by the rights "
                "of whoever proves who they are",
            )
        replicas = await announced(self._client)
        answers = await asyncio.gather(
            *(self._ask(replica, path, query) for replica in replicas), return_exceptions=True
        )
        answered = []
        problems = []
        for replica, answer in zip(replicas, answers, strict=True):
            if isinstance(answer, CrossplyError | aiohttp.ClientError | OSError | TimeoutError | Conflict):
                problems.append(f"{replica.name}: {answer or type(answer).__name__}")
            elif isinstance(answer, BaseException):
                raise answer
            elif answer[0] in (401, 403, 503):
                problems.append(f"{replica.name}: {answer[1].decode(errors='replace')}")
            else:
                answered.append((replica, answer))
        if not answered:
            reason = "; ".join(problems) or "no replica of the control plane records runs"
            raise NoRecorder(reason)
        return answered

    def _ask(self, replica: Replica, path: str, query: Mapping[str, str]) -> Awaitable[tuple[int, bytes]]:
        ask: Callable[..., Awaitable[tuple[int, bytes]]] = self._in_pod if replica.pod else self._here
        return ask(replica, path, query)

    async def _here(self, replica: Replica, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        """Query a process of this user on this machine; no other process gets a token."""
        config = self._client.config
        credential = await config.credentials.current()
        shown = None if credential.authorization else credential.certificate or config.certificate
        context = tls_context(replica.certificate.encode(), False, shown)
        headers = {TOKEN_HEADER: _token(credential.authorization)} if credential.authorization else {}
        url = f"https://127.0.0.1:{int(replica.port)}{path}?{urlencode(query)}"
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, headers=headers, ssl=context, allow_redirects=False) as response,
        ):
            return response.status, await response.read()

    async def _in_pod(self, replica: Replica, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        """Ask a Pod through the API server."""
        pod = f"https:{quote(replica.pod, safe='')}:{int(replica.port)}"
        proxied = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/proxy{path}"
        headers = ((TOKEN_HEADER, await self._token_for(replica)),)
        try:
            reply = await self._client.request(
                "GET", proxied, query=query, accept="*/*", counted=("get", "pods/proxy"), headers=headers
            )
        except KubeError as problem:
            if problem.status == _NOT_FOUND and str(problem).endswith("no such run"):
                return _NOT_FOUND, b""
            raise
        return reply.status, reply.data

    async def _token_for(self, replica: Replica) -> str:
        credential = await self._client.config.credentials.current()
        if credential.authorization:
            return _token(credential.authorization)
        account = quote(replica.service_account, safe="")
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
        spec = {"audiences": [AUDIENCE], "expirationSeconds": 600}
        body: Any = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        reply = await self._client.request("POST", path, body=body)
        token: str = orjson.loads(reply.data)["status"]["token"]
        return token


def _token(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
