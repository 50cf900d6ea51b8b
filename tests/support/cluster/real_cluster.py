"""A real Kubernetes API server with etcd and its controllers, on free loopback ports, for the tests.

In Python it is a context manager, and nothing of it outlives the process:

    with RealCluster("/some/directory") as cluster:
        cluster.url, cluster.token, cluster.ca_path, cluster.kubeconfig

By hand it is left running, or runs for one command:

    python -m tests.support.cluster start --dir D
    python -m tests.support.cluster stop --dir D
    python -m tests.support.cluster run -- pytest tests/cluster

Its programs come from build.sh, their flags from commands.py, its secrets from
credentials.py.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.support.cluster import commands
from tests.support.cluster.commands import CONTROLLERS, Layout, Ports
from tests.support.cluster.credentials import (
    ADMIN,
    KCM,
    USER,
    make_credentials,
    read_tokens,
    write_kubeconfig,
)
from tests.support.cluster.process import ClusterFailed, ServerProcess, answers
from tests.support.paths import CLUSTER
from tests.support.ports import free_port, is_free

ENVIRONMENT = "CROSSPLY_REAL_CLUSTER"  # names the directory of the cluster that a test run may use
BUILD = str(CLUSTER / "build.sh")
READY_WITHIN = 90.0  # it takes about five seconds; this is for a machine that is busy with something else


class RealCluster:
    """One cluster in one directory. Started again, it has the same data, secrets and, if free, ports."""

    def __init__(
        self,
        directory: str,
        *,
        programs: str | None = None,
        controllers: Sequence[str] = CONTROLLERS,
        etcd_data: str | None = None,
        etcd_flags: Sequence[str] = (),
        apiserver_flags: Sequence[str] = (),
        audit: bool = False,
        outlive_us: bool = False,
    ) -> None:
        """
        programs: where etcd and the others are; built by default.
        controllers: what kube-controller-manager runs; with none it is not started.
        etcd_data: a directory elsewhere, such as one in /dev/shm for a store that never waits for the disk.
        audit: write `audit_log`, one line of JSON for every request.
        outlive_us: leave the programs running when this process ends.
        """
        directory = os.path.abspath(directory)
        self.layout = Layout(directory, os.path.abspath(etcd_data or os.path.join(directory, "etcd")))
        self.controllers = controllers
        self.etcd_flags = etcd_flags
        self.apiserver_flags = apiserver_flags
        self.audit = audit
        self.outlive_us = outlive_us
        self.processes: dict[str, ServerProcess] = {}
        self._programs = programs
        self._ports = _remembered_ports(directory)

    @classmethod
    def attach(cls, directory: str) -> RealCluster:
        """The cluster that was started in this directory, maybe by another process."""
        known = _remembered(directory)
        if not known:
            raise ClusterFailed(f"no cluster was ever started in {directory}")
        cluster = cls(directory, programs=known["programs"], etcd_data=known["etcd_data"], outlive_us=True)
        for name, pid in known["pids"].items():
            cluster.processes[name] = ServerProcess(name, pid, cluster._log(name))
        return cluster

    @property
    def ports(self) -> Ports:
        """Where the programs listen."""
        if self._ports is None:
            raise ClusterFailed("the cluster was never started")
        return self._ports

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.ports.apiserver}"

    @property
    def token(self) -> str:
        """The bearer token of the admin, who is in the group system:masters."""
        return read_tokens(self.layout.path("pki"))[ADMIN]

    @property
    def user_token(self) -> str:
        """The bearer token of the ordinary user `alice`, to whom RBAC has granted nothing."""
        return read_tokens(self.layout.path("pki"))[USER]

    @property
    def ca_path(self) -> str:
        """The certificate that the API server is checked against."""
        return self.layout.path("pki", "ca.crt")

    @property
    def client_certificate(self) -> tuple[str, str]:
        """A certificate of the group system:masters and its key."""
        return self.layout.path("pki", "admin.crt"), self.layout.path("pki", "admin.key")

    @property
    def kubeconfig(self) -> str:
        """A kubeconfig with the contexts `admin` (current) and `alice`."""
        return self.layout.path("kubeconfig")

    @property
    def audit_log(self) -> str:
        """One line of JSON for every request, if the cluster was started with an audit log."""
        return self.layout.path("logs", "audit.log")

    @property
    def programs(self) -> str:
        """The directory of the programs, kubectl among them."""
        if self._programs is None:
            self._programs = built_programs()
        return self._programs

    @property
    def kubectl(self) -> str:
        """The kubectl of the same version."""
        return os.path.join(self.programs, "kubectl")

    def tls(self) -> ssl.SSLContext:
        """What checks the API server's certificate."""
        return ssl.create_default_context(cafile=self.ca_path)

    def alive(self) -> bool:
        """Whether every program that was started still runs."""
        return bool(self.processes) and all(process.alive() for process in self.processes.values())

    def __enter__(self) -> RealCluster:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> RealCluster:
        """Start every program and wait until the cluster can be used."""
        began = time.monotonic()
        self._refuse_a_second_start()
        os.makedirs(self.layout.path("logs"), exist_ok=True)
        os.makedirs(self.layout.etcd_data, mode=0o700, exist_ok=True)
        make_credentials(self.layout.path("pki"))
        for attempt in (1, 2, 3):
            try:
                self._start_programs()
                break
            except ClusterFailed as failure:
                self.stop()
                # Another process may have bound a port after we saw it free.
                if attempt == 3 or "address already in use" not in str(failure):
                    raise
            except BaseException:
                self.stop()
                raise
        say(f"the real cluster is ready at {self.url} after {time.monotonic() - began:.1f} s")
        return self

    def stop(self) -> None:
        """End every program, the store last."""
        for name in reversed(list(self.processes)):
            self.processes.pop(name).stop()
        if self._ports:
            self._remember()

    def restart_apiserver(self) -> None:
        """End the API server and start it again at the same address."""
        self.processes["kube-apiserver"].stop()
        self._start_apiserver()
        self._remember()

    def _refuse_a_second_start(self) -> None:
        if _remembered(self.layout.directory) and RealCluster.attach(self.layout.directory).alive():
            raise ClusterFailed(f"a cluster is running in {self.layout.directory} already")

    def _start_programs(self) -> None:
        self._ports = self._choose_ports()
        tokens = read_tokens(self.layout.path("pki"))
        people = {user: tokens[user] for user in (ADMIN, USER)}
        write_kubeconfig(self.kubeconfig, self.url, self.ca_path, people, ADMIN)
        controllers = {KCM: tokens[KCM]}
        write_kubeconfig(self.layout.path("kubeconfig.controllers"), self.url, self.ca_path, controllers, KCM)
        self._launch("etcd", [*commands.etcd(self.layout, self.ports), *self.etcd_flags])
        self._wait("etcd", f"http://127.0.0.1:{self.ports.etcd}/health")
        self._start_apiserver()
        if self.controllers:
            self._start_controllers()
        self._remember()

    def _start_apiserver(self) -> None:
        flags = commands.kube_apiserver(self.layout, self.ports)
        if self.audit:
            flags += commands.audit(self.layout)
        self._launch("kube-apiserver", [*flags, *self.apiserver_flags])
        self._wait("kube-apiserver", f"{self.url}/readyz", f"{self.url}/api/v1/namespaces/default")

    def _start_controllers(self) -> None:
        flags = commands.kube_controller_manager(self.layout, self.ports, self.controllers)
        self._launch("kube-controller-manager", flags)
        self._wait("kube-controller-manager", f"https://127.0.0.1:{self.ports.controller_manager}/healthz")

    def _launch(self, name: str, flags: Sequence[str]) -> None:
        command = [os.path.join(self.programs, name), *flags]
        self.processes[name] = ServerProcess.start(command, self._log(name), self.outlive_us)

    def _wait(self, name: str, *urls: str) -> None:
        began = time.monotonic()
        tls, token = self.tls(), self.token
        for url in urls:
            self.processes[name].wait_until(partial(answers, url, tls, token), READY_WITHIN)
        say(f"{name} is ready after {time.monotonic() - began:.1f} s")

    def _choose_ports(self) -> Ports:
        known = self._ports
        if known and all(map(is_free, known)):
            return known
        return Ports(*(free_port() for _ in Ports._fields))

    def _remember(self) -> None:
        known = {
            "url": self.url,
            "ports": self.ports,
            "programs": self.programs,
            "etcd_data": self.layout.etcd_data,
            "pids": {name: process.pid for name, process in self.processes.items()},
        }
        path = self.layout.path("cluster.json")
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(known, file, indent=2)
        os.replace(f"{path}.part", path)

    def _log(self, name: str) -> str:
        return self.layout.path("logs", f"{name}.log")


def built_programs() -> str:
    """The directory of the programs, built first where they are not there."""
    done = subprocess.run([BUILD], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ClusterFailed(f"{BUILD} ended with {done.returncode}: there are no programs to start")
    return done.stdout.strip()


def _remembered(directory: str) -> dict[str, Any]:
    try:
        with open(os.path.join(directory, "cluster.json"), encoding="utf-8") as file:
            known: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    return known


def _remembered_ports(directory: str) -> Ports | None:
    known = _remembered(directory)
    return Ports(*known["ports"]) if known else None


def say(line: str) -> None:
    """Progress, separate from the output of a command."""
    print(line, file=sys.stderr, flush=True)
