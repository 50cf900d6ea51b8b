"""Control planes to measure: the whole embedded one, and our controllers on kube-apiserver and etcd."""

from __future__ import annotations

import pathlib
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

from processes import children_of

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


class Running(NamedTuple):
    """A control plane, and its processes by their roles."""

    name: str
    kubeconfig: str
    processes: dict[str, int]
    metrics: str
    """The metrics address of the controllers."""
    records: bool = True
    """Whether runs are recorded."""


@contextmanager
def embedded(records: bool = True) -> Iterator[Running]:
    """`crossply up` with its data on disk, with or without the recorder of runs."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as data,
        started("up", "--data", data, f"--metrics-port={port}", f"--record-runs={_word(records)}") as pid,
    ):
        processes = {"controllers": pid, "API server": children_of(pid)[0]}
        name = "embedded" if records else "embedded, without the recorder of runs"
        yield Running(name, f"{data}/kubeconfig", processes, _metrics_at(port), records)


def without_recorder() -> AbstractContextManager[Running]:
    """The embedded control plane without the recorder of runs."""
    return embedded(records=False)


def _word(flag: bool) -> str:
    return "true" if flag else "false"


@contextmanager
def real() -> Iterator[Running]:
    """`crossply controller` for a real cluster; the programs must be built."""
    from tests.support.cluster.real_cluster import RealCluster

    port = free_port()
    with (
        tempfile.TemporaryDirectory() as directory,
        RealCluster(directory) as cluster,
        started("controller", "--kubeconfig", cluster.kubeconfig, f"--metrics-port={port}") as pid,
    ):
        processes = {name: process.pid for name, process in cluster.processes.items()}
        yield Running(
            "kube-apiserver", cluster.kubeconfig, {"controllers": pid, **processes}, _metrics_at(port)
        )


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _metrics_at(port: int) -> str:
    return f"http://127.0.0.1:{port}/metrics"


def real_is_possible() -> bool:
    """Whether the programs of a real cluster are built."""
    from tests.support.cluster.real_cluster import built_programs

    try:
        return bool(built_programs())
    except Exception:  # noqa: BLE001 - then they are not
        return False


@contextmanager
def started(*command: str) -> Iterator[int]:
    """One of our commands from when it is ready; the id of its process."""
    process = subprocess.Popen(
        [CROSSPLY, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        while (line := process.stdout.readline()) != "control plane ready\n":
            if not line:
                raise RuntimeError(f"crossply {' '.join(command)} ended before it was ready")
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
