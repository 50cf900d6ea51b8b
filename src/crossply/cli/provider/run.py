"""`crossply provider run`: run a provider in Python, and restart it when a file is saved."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Command, Invocation
from crossply.cli.provider.crd_generation import DIRECTORY, directory_of, write_crds
from crossply.values import Object


def run(invocation: Invocation) -> int:
    """Install the CRDs and run the provider until it is interrupted."""
    import asyncio
    import signal

    from crossply.cli.framework.cluster_configuration import cluster_configuration
    from crossply.cli.provider.development_run import DevelopmentRun, install_crds, read_crds
    from crossply.provider.provider_directory import python_packages

    directory = directory_of(invocation["directory"])
    packages = python_packages(directory)
    config = cluster_configuration("", invocation.environ)
    name = os.path.basename(directory)

    def say(text: str) -> None:
        invocation.stderr.write(f"{name}: {text}\n")
        invocation.stderr.flush()

    def write(text: str) -> None:
        invocation.stdout.write(text)
        invocation.stdout.flush()

    installed: list[Object] = []

    def prepare() -> None:
        crds = read_crds(write_crds(directory))
        if crds != installed:
            asyncio.run(install_crds(config, crds))
            installed[:] = crds
            names = ", ".join(crd["spec"]["names"]["kind"] for crd in crds)
            say(f"installed the CRDs of {names} in {config.server}")

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    environ = dict(invocation.environ)
    try:
        DevelopmentRun(directory, packages, prepare, environ=environ, say=say, write=write).run()
    except KeyboardInterrupt:
        say("stopped")
    return 0


COMMAND = Command(
    "run",
    "Run a provider in Python, and restart it when a file is saved.",
    run,
    arguments=(DIRECTORY,),
    description=(
        "Generates the CRDs of the provider's classes, installs them in the cluster that KUBECONFIG or\n"
        "~/.kube/config names, and runs the provider as a process of this machine, as the user of the\n"
        "kubeconfig. When a file is saved, the CRDs are installed again and the process is replaced; code\n"
        "that cannot be loaded is reported, and the process with the previous code continues to run."
    ),
    examples=("crossply provider run", "KUBECONFIG=data/kubeconfig crossply provider run provider-tickets"),
)
