"""The PostgreSQL provider: how soon roles are Ready, its memory, and what it costs at rest.

    bench/providers.py [ROLES ...] [--rest SECONDS] [--peer BINARY CRDS]

`--peer` names a build of the published provider-sql and the directory of its CRDs: it does the same work on
such an API server and such a PostgreSQL.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402
from tests.support.postgresql_provider import condition  # noqa: E402
from tests.support.postgresql_server import PostgresServer, running_postgres  # noqa: E402
from tests.support.programs import missing  # noqa: E402
from tests.support.provider_process import ProviderProcess  # noqa: E402
from tests.support.server_process import DEFINITION, Server  # noqa: E402

from crossply.errors import CrossplyError  # noqa: E402
from crossply.kube.client import Client  # noqa: E402
from crossply.kube.core_kinds import SECRET  # noqa: E402
from crossply.kube.kind import Kind  # noqa: E402
from crossply.record.prometheus_text_parser import parse, sum_by  # noqa: E402
from crossply.values import Object  # noqa: E402
from crossply.values.yaml import load  # noqa: E402
from machine import loop_per_second  # noqa: E402

POLL_SECONDS = 60
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): ")


class Contender(NamedTuple):
    """A provider and how it is started."""

    name: str
    group: str
    crds: pathlib.Path
    binary: str = ""

    @property
    def role(self) -> Kind:
        return Kind(self.group, "v1alpha1", "Role", "roles", True)

    @property
    def config(self) -> Kind:
        return Kind(self.group, "v1alpha1", "ClusterProviderConfig", "clusterproviderconfigs", False)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roles", type=int, nargs="*", default=[200])
    parser.add_argument("--rest", type=float, default=60.0)
    parser.add_argument("--peer", nargs=2, metavar=("BINARY", "CRDS"))
    options = parser.parse_args()
    if reason := missing("postgres"):
        print(reason)
        return 0
    ours = Contender(
        "crossply", "postgresql.crossply.dev", ROOT / "providers" / "postgresql" / "package" / "crds"
    )
    contenders = [ours]
    if options.peer:
        binary, crds = options.peer
        contenders.append(
            Contender("provider-sql", "postgresql.sql.m.crossplane.io", pathlib.Path(crds), binary)
        )
    print(f"yardstick: {loop_per_second():.0f} small loops a second")
    for count in options.roles:
        for contender in contenders:
            with running_postgres() as postgres:
                asyncio.run(measure(contender, count, options.rest, postgres))
    return 0


async def measure(contender: Contender, count: int, rest: float, postgres: PostgresServer) -> None:
    with tempfile.TemporaryDirectory() as directory:
        server = Server(pathlib.Path(directory), "--in-memory").start()
        process: subprocess.Popen[bytes] | None = None
        try:
            async with Client(server.config) as client:
                await prepare(client, contender, postgres)
                process = start(contender, server.kubeconfig, directory)
                await asyncio.sleep(10)  # it is up, and has nothing to do
                await play(client, contender, count, rest, postgres, process.pid)
        finally:
            if process is not None:
                process.kill()
                process.wait()
            server.stop()


async def prepare(client: Client, contender: Contender, postgres: PostgresServer) -> None:
    for file in sorted(contender.crds.iterdir()):
        definition = load(file.read_bytes())
        if definition["spec"]["group"] == contender.group or contender.binary:
            await client.apply(DEFINITION, definition, "bench")
    metadata = {"namespace": "default", "name": "server"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    await client.apply(SECRET, {**secret, "stringData": postgres.connection_secret}, "bench")
    spec = {
        "sslMode": "disable",
        "credentials": {"source": "PostgreSQLConnectionSecret", "connectionSecretRef": metadata},
    }
    for _ in range(100):
        try:
            await client.apply(contender.config, named(contender.config, {"name": "default"}, spec), "bench")
            return
        except CrossplyError:
            await asyncio.sleep(0.1)
    raise SystemExit("the kinds are not served")


def start(contender: Contender, kubeconfig: str, directory: str) -> subprocess.Popen[bytes]:
    log = open(os.path.join(directory, "provider.log"), "wb")  # noqa: SIM115
    if not contender.binary:
        provider = ProviderProcess("postgresql", kubeconfig, pathlib.Path(directory) / "provider.log")
        return subprocess.Popen(provider.command, stdout=log, stderr=log)
    environment = {**os.environ, "KUBECONFIG": kubeconfig, "POD_NAMESPACE": "default"}
    command = [contender.binary, f"--poll={POLL_SECONDS}s"]
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


async def play(
    client: Client, contender: Contender, count: int, rest: float, postgres: PostgresServer, pid: int
) -> None:
    empty = memory_mib(pid)
    began = time.perf_counter()
    before = processor_seconds(pid)
    limit = asyncio.Semaphore(16)

    async def create(number: int) -> None:
        async with limit:
            spec = {
                "forProvider": {"privileges": {"login": True}},
                "writeConnectionSecretToRef": {"name": f"role-{number}"},
                "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "default"},
            }
            metadata = {"namespace": "default", "name": f"role-{number}"}
            await client.create(contender.role, named(contender.role, metadata, spec))

    await asyncio.gather(*(create(number) for number in range(count)))
    while await ready_count(client, contender) < count:
        await asyncio.sleep(max(0.2, count / 500))  # a look costs the API server more than a role does
        if time.perf_counter() - began > 600:
            raise SystemExit(f"{contender.name}: not Ready after ten minutes")
    seconds = time.perf_counter() - began
    used = processor_seconds(pid) - before
    await asyncio.sleep(5)
    requests, statements, sessions = await counts(client, postgres)
    at_rest = processor_seconds(pid)
    await asyncio.sleep(rest)
    more_requests, more_statements, more_sessions = await counts(client, postgres)
    scale = 60 / rest
    print(
        f"{contender.name}: {count} roles Ready after {seconds:.1f} s ({used:.1f} s of CPU), "
        f"memory {memory_mib(pid):.0f} MiB (empty {empty:.0f}); a minute at rest: "
        f"{(more_requests - requests) * scale:.0f} requests, "
        f"{(more_statements - statements) * scale:.0f} queries, "
        f"{(more_sessions - sessions) * scale:.0f} new connections, "
        f"{(processor_seconds(pid) - at_rest) * scale:.1f} s of CPU",
        flush=True,
    )


async def ready_count(client: Client, contender: Contender) -> int:
    listed = await client.list(contender.role, "default", limit=5000)
    roles = (orjson.loads(item) for item in listed.items)
    return sum(condition(role, "Ready").get("status") == "True" for role in roles)


async def counts(client: Client, postgres: PostgresServer) -> tuple[float, int, int]:
    """Requests to the API server that are no watches, statements, and sessions of PostgreSQL so far."""
    [(sessions,)] = postgres.query("SELECT coalesce(sum(sessions), 0)::int FROM pg_stat_database")
    statements = len(STATEMENT.findall(postgres.log))
    page = (await client.request("GET", "/metrics", accept="text/plain")).data.decode()
    verbs = sum_by(parse(page), "apiserver_request_total", "verb")
    total = sum(count for verb, count in verbs.items() if verb != "WATCH")
    assert isinstance(sessions, int)
    return total, statements, sessions


def memory_mib(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def named(kind: Kind, metadata: Object, spec: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


if __name__ == "__main__":
    sys.exit(main())
