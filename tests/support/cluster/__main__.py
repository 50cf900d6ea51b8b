"""The command line of the real cluster: start it and leave it, stop it, or keep it for one command."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NoReturn

from tests.support.cluster.commands import CONTROLLERS
from tests.support.cluster.process import ClusterFailed, adopt_orphans, die_with, end_children
from tests.support.cluster.real_cluster import ENVIRONMENT, RealCluster, say

GRACE = 30.0  # seconds that a command gets to finish after Ctrl-C


def main(arguments: Sequence[str]) -> int:
    """Run by arguments; return the exit code."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, leave)
    try:
        return int(options.do(options))
    except ClusterFailed as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        return 130


def leave(number: int, _: object) -> NoReturn:
    """End as if by an exception, so that everything started is stopped on the way out."""
    sys.exit(128 + number)


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m tests.support.cluster", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="start | stop | run")
    for name, do, summary in (
        ("start", start, "start a cluster in a directory and leave it running"),
        ("stop", stop, "stop the cluster of a directory; its data stay"),
        ("run", run, "start a cluster, run a command with it, stop it"),
    ):
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(do=do)
        command.add_argument("--dir", required=name != "run", help="the directory of the cluster")
        if name != "stop":
            add_cluster_options(command)
        if name == "run":
            command.add_argument("command", nargs="+", help="the command, after --")
    return top


def add_cluster_options(command: argparse.ArgumentParser) -> None:
    """What a cluster can be started with."""
    command.add_argument("--etcd-data", help="keep the store elsewhere, such as in /dev/shm/NAME")
    command.add_argument("--etcd-flag", action="append", default=[], metavar="FLAG")
    command.add_argument("--apiserver-flag", action="append", default=[], metavar="FLAG")
    command.add_argument(
        "--audit", action="store_true", help="write logs/audit.log, one line for every request"
    )
    controllers = "what kube-controller-manager runs, with commas between; '' for no kube-controller-manager"
    command.add_argument("--controllers", default=",".join(CONTROLLERS), help=controllers)


def start(options: argparse.Namespace) -> int:
    """Start a cluster and print how to reach it."""
    say_how_to_reach(cluster_of(options, options.dir, outlive_us=True).start())
    return 0


def stop(options: argparse.Namespace) -> int:
    """Stop the cluster of a directory."""
    RealCluster.attach(options.dir).stop()
    say(f"the cluster in {options.dir} is stopped")
    return 0


def run(options: argparse.Namespace) -> int:
    """Keep a cluster for the time of one command; the answer is the command's."""
    directory = options.dir or tempfile.mkdtemp(prefix="crossply-cluster-")
    adopt_orphans()
    code = 1
    try:
        with cluster_of(options, directory, outlive_us=False) as cluster:
            code = run_with(cluster, options.command)
    finally:
        if not options.dir:
            forget(directory, keep_logs=code != 0)
    return code


def cluster_of(options: argparse.Namespace, directory: str, outlive_us: bool) -> RealCluster:
    """The cluster that the options describe, not started yet."""
    return RealCluster(
        directory,
        controllers=[name for name in options.controllers.split(",") if name],
        etcd_data=options.etcd_data,
        etcd_flags=options.etcd_flag,
        apiserver_flags=options.apiserver_flag,
        audit=options.audit,
        outlive_us=outlive_us,
    )


def run_with(cluster: RealCluster, command: Sequence[str]) -> int:
    """Run a command that can find the cluster, and end what it wrongly leaves running."""
    environment = {**os.environ, ENVIRONMENT: cluster.layout.directory, "KUBECONFIG": cluster.kubeconfig}
    try:
        return call(command, environment)
    finally:
        for left in end_children(but=[process.pid for process in cluster.processes.values()]):
            say(f"the command left this running, it is ended now: {left}")


def call(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a command that is stopped with us, and let it finish by itself on SIGTERM."""
    child = subprocess.Popen(command, env=environment, preexec_fn=die_with(os.getpid()))
    try:
        return child.wait()
    except (KeyboardInterrupt, SystemExit) as interruption:
        if isinstance(interruption, SystemExit):
            child.terminate()  # Ctrl-C has reached it already
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
        raise


def forget(directory: str, keep_logs: bool) -> None:
    """Remove a cluster unless it is to be kept; the logs of a failed one are preserved."""
    if not keep_logs:
        shutil.rmtree(directory)
        return
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if os.path.isdir(path) and name != "logs":
            shutil.rmtree(path)
    say(f"the logs of the cluster are kept in {os.path.join(directory, 'logs')}")


def say_how_to_reach(cluster: RealCluster) -> None:
    """Everything a client needs, on standard output."""
    certificate, key = cluster.client_certificate
    rows = {
        "url": cluster.url,
        "ca": cluster.ca_path,
        "token": f"{cluster.token}  (admin, of system:masters)",
        "user token": f"{cluster.user_token}  (alice, without rights)",
        "certificate": f"{certificate} {key}",
        "kubeconfig": f"{cluster.kubeconfig}  (contexts admin and alice)",
        "kubectl": cluster.kubectl,
        "logs": cluster.layout.path("logs"),
    }
    for name, value in rows.items():
        print(f"{name + ':':13}{value}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
