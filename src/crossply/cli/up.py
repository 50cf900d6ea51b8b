"""`crossply up`: a control plane on this machine, from one command.

The API server is a process of its own, and the controllers talk to it over HTTPS as they would to any
cluster.
"""

from __future__ import annotations

import os
import sys

from crossply.cli.observing import (
    HERE_ONLY,
    LOG_FORMAT,
    LOOPBACK,
    debug_flag,
    metrics_port,
    observed,
    words_of,
)
from crossply.cli.package_flags import TRUST_FLAGS, local_package_settings, words_of_trust
from crossply.cli.serving import run_plane, stop_requested
from crossply.cli.spec import Command, Flag, Invocation
from crossply.cli.work_flags import CONTROLLED_ROLLOUT, EXTRA_RESOURCES, FUNCTION_TIMEOUT, OPERATIONS
from crossply.errors import CrossplyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio.subprocess import Process as Server
    from subprocess import Popen

    Process = Popen[bytes]

DEFAULT_DATA = os.path.join(".", ".crossply")
PID_FILE = "up.pid"
LOG_FILE = "up.log"
_START_SECONDS = 60.0


class StartFailed(CrossplyError):
    """The control plane did not come up."""

    code = "CP-570"
    hint = "look at the end of the log, and at whether another one runs on the same data or port"


def run(invocation: Invocation) -> int:
    """Run here until interrupted, or in the background."""
    if invocation["detach"]:
        return _detach(invocation)
    import uvloop

    uvloop.run(_serve(invocation))
    return 0


def _detach(invocation: Invocation) -> int:
    """Start the same command in the background, and wait until it is ready."""
    import subprocess

    data = invocation["data"]
    os.makedirs(data, mode=0o700, exist_ok=True)
    if _running(data):
        invocation.stdout.write(f"already running: kubectl --kubeconfig {data}/kubeconfig get xrd\n")
        return 0
    command = [sys.executable, "-m", "crossply.cli", "up", "--data", data, "--listen", invocation["listen"]]
    if invocation["in-memory"]:
        command.append("--in-memory")
    command += ["--function-timeout", f"{invocation['function-timeout']}s"]
    for flag in (CONTROLLED_ROLLOUT.name, EXTRA_RESOURCES.name):
        command.append(f"--{flag}={str(invocation[flag]).lower()}")
    if invocation["enable-operations"]:
        command.append("--enable-operations")
    command += words_of_trust(invocation)
    command += words_of(invocation)
    with open(os.path.join(data, LOG_FILE), "w") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    _wait_until_ready(process, os.path.join(data, LOG_FILE))
    invocation.stdout.write(_greeting(data))
    return 0


def _wait_until_ready(process: Process, log: str) -> None:
    import time

    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        with open(log) as file:
            said = file.read()
        if "control plane ready" in said:
            return
        if process.poll() is not None:
            raise StartFailed(f"the control plane ended with code {process.returncode}", place=log)
        time.sleep(0.05)
    raise StartFailed(f"the control plane is not ready after {_START_SECONDS:.0f} s", place=log)


def _running(data: str) -> bool:
    try:
        with open(os.path.join(data, PID_FILE)) as file:
            os.kill(int(file.read()), 0)
    except (OSError, ValueError):
        return False
    return True


async def _serve(invocation: Invocation) -> None:
    from crossply.control.options import Options
    from crossply.control.running import ControlPlane
    from crossply.control.runtimes.choice import ON_ONE_MACHINE
    from crossply.control.runtimes.runtimes import RuntimeSettings
    from crossply.kube.client import Client
    from crossply.kube.config import load_config

    data = invocation["data"]
    stopped = stop_requested()

    def tell() -> None:
        invocation.stdout.write(f"control plane ready\n{_greeting(data)}")
        invocation.stdout.flush()

    invocation.stderr.write("crossply: starting the API server ...\n")
    server = await _start_server(invocation)
    pid_file = os.path.join(data, PID_FILE)
    with open(pid_file, "w") as file:
        file.write(str(os.getpid()))
    try:
        config = load_config(os.path.join(data, "kubeconfig"))
        async with observed(invocation, LOOPBACK), Client(config) as client:
            options = Options(
                function_seconds=invocation["function-timeout"],
                rollout=invocation["enable-controlled-rollout"],
                extra_resources=invocation[EXTRA_RESOURCES.name],
                operations=invocation["enable-operations"],
                packages=local_package_settings(invocation, os.path.join(data, "packages")),
                images=os.path.join(data, "images"),
                runtimes=RuntimeSettings(ON_ONE_MACHINE),
            )
            await run_plane(ControlPlane(client, options=options), stopped, tell, server.wait())
            if not stopped.is_set():
                raise StartFailed(f"the API server ended with code {server.returncode}")
    finally:
        if server.returncode is None:
            server.terminate()
            await server.wait()
        os.unlink(pid_file)


async def _start_server(invocation: Invocation) -> Server:
    import asyncio

    command = [
        "-m",
        "crossply.cli",
        "apiserver",
        "--data",
        invocation["data"],
        "--listen",
        invocation["listen"],
    ]
    if invocation["in-memory"]:
        command.append("--in-memory")
    # Ctrl-C reaches the whole group; the server has a session of its own and is stopped last.
    server = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert server.stdout is not None
    first = await server.stdout.readline()
    if not first.startswith(b"ready:"):
        raise StartFailed(f"the API server did not start (exit code {await server.wait()})")
    return server


def _greeting(data: str) -> str:
    return (
        f"try:  kubectl --kubeconfig {data}/kubeconfig get xrd,composition,function\n"
        f"stop: crossply down --data {data}\n"
    )


COMMAND = Command(
    name="up",
    summary="Run a control plane on this machine.",
    description=(
        "Starts the embedded Kubernetes API server and the controllers that make composite resources real. "
        "Everything is kept in the data directory, with a kubeconfig for kubectl. Ctrl-C leaves all clean."
    ),
    examples=("crossply up", "crossply up --detach --data ./state", "crossply up --in-memory"),
    run=run,
    flags=(
        Flag(
            "data",
            "The directory for everything that is kept.",
            kind="path",
            default=DEFAULT_DATA,
            placeholder="DIR",
        ),
        Flag("detach", "Run in the background; stop it with crossply down.", short="d"),
        Flag("in-memory", "Keep objects in memory only."),
        Flag(
            "listen",
            "The address of the API server; port 0 takes a free one.",
            kind="string",
            default="127.0.0.1:0",
            placeholder="127.0.0.1:0",
        ),
        FUNCTION_TIMEOUT,
        CONTROLLED_ROLLOUT,
        EXTRA_RESOURCES,
        OPERATIONS,
        *TRUST_FLAGS,
        metrics_port(0, HERE_ONLY),
        LOG_FORMAT,
        debug_flag(),
    ),
)
