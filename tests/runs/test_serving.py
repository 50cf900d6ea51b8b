"""Replicas serve the runs that they recorded, to users with the right to get the object."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import aiohttp
import orjson
import pytest

from crossply.compose.effects import RemoveFinalizer
from crossply.compose.engine_field_paths import MODERN
from crossply.compose.reconcile import Settings
from crossply.kube.client import Client
from crossply.kube.core_kinds import NAMESPACE as NAMESPACES
from crossply.kube.core_kinds import ROLE, ROLE_BINDING, SERVICE_ACCOUNT
from crossply.kube.credentials import Credential, Fixed
from crossply.kube.discovery import Discovery
from crossply.kube.failures import Conflict, Unauthorized
from crossply.kube.tls import Certificate
from crossply.runs.capture import Capture
from crossply.runs.client import RunClient
from crossply.runs.errors import NoRecorder, RunNotFound
from crossply.runs.model import Subject
from crossply.runs.recorder import RunRecorder
from crossply.runs.run_server_addresses import (
    NAME,
    NAMESPACE,
    TOKEN_HEADER,
    Replica,
    announce,
    announced,
    retract,
)
from crossply.runs.serving import RunServer
from crossply.runs.sqlite_run_store import IN_MEMORY, RunStore
from crossply.runs.viewers import Viewer, Viewers
from tests.support.server_process import Server


def stored_run(namespace: str, name: str) -> Any:
    """A run of a ConfigMap, which rights are easily granted for."""
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    capture = Capture(obj, Settings(MODERN, lambda: "2024-01-01T00:00:00Z"), triggers=("created",))
    capture.started_at = 1_700_000_000 + ord(name)
    capture.answered(RemoveFinalizer(obj), None, None, capture.started)
    capture.end()
    return capture


@asynccontextmanager
async def replica(client: Client, name: str, captures: list[Capture]) -> AsyncIterator[RunStore]:
    """A replica that has recorded runs."""
    recorder = RunRecorder(RunStore(IN_MEMORY))
    recorder.store.append([recorder.encode(capture) for capture in captures])
    authority = client.config.authority
    serving = RunServer(recorder.store, Viewers(client, Discovery(client)), authority)
    port = await serving.start("127.0.0.1", 0)
    await announce(client, Replica(name, port, serving.certificate))
    try:
        yield recorder.store
    finally:
        await retract(client, name)
        await serving.stop()
        recorder.stop()


async def create(client: Client, kind: Any, obj: dict[str, Any]) -> None:
    """Create an object, unless another case has."""
    with suppress(Conflict):
        await client.create(kind, {"apiVersion": kind.api_version, "kind": kind.kind, **obj})


@pytest.fixture
async def place(client: Client, ns: str) -> str:
    for name in (NAMESPACE, ns):
        await create(client, NAMESPACES, {"metadata": {"name": name}})
    return ns


@asynccontextmanager
async def viewer(client: Client, namespace: str, name: str) -> AsyncIterator[RunClient]:
    """A service account that may read where replicas are, and nothing else."""
    await create(client, SERVICE_ACCOUNT, {"metadata": {"name": name, "namespace": namespace}})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": [NAME]}
    await grant(client, NAMESPACE, namespace, name, rule)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    reply = await client.request("POST", path, body=request)
    token = orjson.loads(reply.data)["status"]["token"]
    async with showing(client, Credential(f"Bearer {token}")) as own:
        yield RunClient(own)


def showing(client: Client, credential: Credential) -> Client:
    """A client that shows the same server this, and nothing else."""
    return Client(replace(client.config, credentials=Fixed(credential), certificate=None))


async def grant(client: Client, place: str, account_namespace: str, account: str, rule: Any) -> None:
    metadata = {"name": f"{account_namespace}-{account}", "namespace": place}
    await create(client, ROLE, {"metadata": metadata, "rules": [rule]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": metadata["name"]}
    subject = {"kind": "ServiceAccount", "name": account, "namespace": account_namespace}
    await create(client, ROLE_BINDING, {"metadata": metadata, "roleRef": role, "subjects": [subject]})


async def test_a_client_queries_all_replicas(client: Client, place: str) -> None:
    runs = RunClient(client)
    async with (
        replica(client, "one", [stored_run(place, "a"), stored_run(place, "b")]),
        replica(client, "two", [stored_run(place, "c")]),
    ):
        listed = await runs.list_runs("ConfigMap", place)
        assert [(run.subject.name, run.replica) for run in listed] == [
            ("c", "two"),
            ("b", "one"),
            ("a", "one"),
        ]
        assert [run.subject.name for run in await runs.list_runs(limit=1)] == ["c"]
        assert [run.subject.name for run in await runs.list_runs(before=listed[0].id)] == ["b", "a"]
        loaded = await runs.load_run(listed[1].id)
        assert loaded.summary == listed[1]
        assert loaded.effects[0].verb == "removed finalizer"
        with pytest.raises(RunNotFound):
            await runs.load_run("0000")
    with pytest.raises(NoRecorder):
        await runs.list_runs()


async def test_a_replica_that_is_gone_does_not_hide_the_others(client: Client, place: str) -> None:
    async with replica(client, "one", [stored_run(place, "a")]):
        await announce(client, Replica("gone", 1, "no certificate"))
        await announce(client, Replica("silent", 1, ""))
        assert len(await RunClient(client).list_runs(namespace=place)) == 1
        await retract(client, "gone")
        await retract(client, "silent")


async def test_a_user_without_the_get_right_gets_none_of_the_runs(client: Client, place: str) -> None:
    async with (
        replica(client, "one", [stored_run(place, "a"), stored_run(place, "b")]),
        viewer(client, place, "stranger") as stranger,
        viewer(client, place, "reader") as reader,
    ):
        everything = await RunClient(client).list_runs(namespace=place)
        assert await stranger.list_runs() == []
        with pytest.raises(RunNotFound):
            await stranger.load_run(everything[0].id)
        rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["a"]}
        await grant(client, place, place, "reader", rule)
        assert [run.subject.name for run in await reader.list_runs()] == ["a"]
        loaded = await reader.load_run((await reader.list_runs())[0].id)
        assert loaded.summary.subject.name == "a"
        hidden = next(run for run in everything if run.subject.name == "b")
        with pytest.raises(RunNotFound):
            await reader.load_run(hidden.id)


async def test_a_forged_token_is_refused(client: Client, place: str) -> None:
    async with replica(client, "one", [stored_run(place, "a")]):
        forged_client = RunClient(showing(client, Credential("Bearer forged")))
        statuses = [
            (await forged_client._here(announcement, "/runs", {}))[0]
            for announcement in await announced(client)
        ]
        assert statuses == [401]


@pytest.fixture
async def certified(client: Client, server: Server) -> AsyncIterator[Client]:
    """An administrator with a certificate, and no token."""
    pki = server.directory / "pki"
    pair = Certificate((pki / "admin.crt").read_bytes(), (pki / "admin.key").read_bytes())
    async with showing(client, Credential(certificate=pair)) as own:
        yield own


async def test_a_certificate_is_as_good_as_a_token(client: Client, certified: Client, place: str) -> None:
    async with replica(client, "one", [stored_run(place, "a")]):
        assert [run.subject.name for run in await RunClient(certified).list_runs(namespace=place)] == ["a"]


async def test_for_a_pod_a_certificate_gets_a_token_that_is_good_for_runs_alone(
    client: Client, certified: Client, place: str
) -> None:
    await create(client, SERVICE_ACCOUNT, {"metadata": {"name": place, "namespace": NAMESPACE}})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["a"]}
    await grant(client, place, NAMESPACE, place, rule)
    async with replica(client, "one", [stored_run(place, "a"), stored_run(place, "b")]):
        [announcement] = await announced(client)
        token = await RunClient(certified)._token_for(announcement._replace(service_account=place))
        async with showing(client, Credential(f"Bearer {token}")) as token_client:
            status, data = await RunClient(token_client)._here(announcement, "/runs", {})
            assert (status, [run["subject"][3] for run in orjson.loads(data)["runs"]]) == (200, ["a"])
            with pytest.raises(Unauthorized):
                await announced(token_client)


async def _status(client: Client, path: str, **headers: str) -> int:
    """What the only replica answers to a request as it stands."""
    [announcement] = await announced(client)
    context = ssl.create_default_context(cadata=announcement.certificate)
    url = f"https://127.0.0.1:{announcement.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, ssl=context, headers=headers) as response:
        return response.status


async def test_nonsense_is_refused_or_ignored_without_a_failure(client: Client, place: str) -> None:
    token = (await client.config.credentials.current()).authorization.removeprefix("Bearer ")
    async with replica(client, "one", [stored_run(place, "a")]):
        assert await _status(client, "/runs", **{TOKEN_HEADER: "\udcff\udcfe"}) == 401
        for limit in ("%C2%B2", "9" * 5000, "-1", "%D9%A3"):
            assert await _status(client, f"/runs?limit={limit}", **{TOKEN_HEADER: token}) == 200


class Counted(Client):
    """A client that knows how many of its requests were under way at once."""

    running = most = 0

    async def request(self, *arguments: Any, **options: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await super().request(*arguments, **options)
        finally:
            self.running -= 1


async def test_one_viewer_does_not_take_the_requests_of_the_control_plane(client: Client) -> None:
    async with Counted(client.config) as counted:
        viewers = Viewers(counted, Discovery(client))
        subjects = [Subject("v1", "ConfigMap", "default", f"map-{n}", "") for n in range(20)]
        allowed = await asyncio.gather(*(viewers.may_see(Viewer("jane"), subject) for subject in subjects))
        assert (allowed, counted.most) == ([False] * 20, 1)


async def test_forged_tokens_do_not_take_the_requests_of_the_control_plane(client: Client) -> None:
    async with Counted(client.config) as counted:
        viewers = Viewers(counted, Discovery(client))
        authenticated = await asyncio.gather(*(viewers.authenticate(f"forged-{n}") for n in range(20)))
        assert authenticated == [None] * 20
        assert counted.most <= 4
