"""`crossply controller`: the controllers alone, for a cluster that is there already."""

from __future__ import annotations

from crossply.cli.observing import LOG_FORMAT, debug_flag, metrics_port, observed
from crossply.cli.spec import Command, Flag, Invocation
from crossply.cli.webhook_flags import WEBHOOK_FLAGS, webhook_settings


def run(invocation: Invocation) -> int:
    """Run until interrupted."""
    import uvloop

    uvloop.run(_run(invocation))
    return 0


async def _run(invocation: Invocation) -> None:
    import asyncio
    import signal

    from crossply.control.running import ControlPlane
    from crossply.kube.client import Client
    from crossply.kube.config import load_config

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    config = load_config(invocation["kubeconfig"], invocation["context"] or "")
    async with observed(invocation), Client(config) as client:
        plane = ControlPlane(client, webhooks=webhook_settings(invocation))
        await plane.start()
        invocation.stdout.write(f"control plane ready\nworking for {config.server}\n")
        invocation.stdout.flush()
        await stopped.wait()
        await plane.stop()


COMMAND = Command(
    name="controller",
    summary="Run the controllers for a Kubernetes cluster.",
    description=(
        "Installs the kinds that make a control plane, and makes composite resources real. Works for the "
        "cluster of the kubeconfig, or for the one it runs in. Run one of it for a cluster. "
        "Ctrl-C leaves everything as it is; the next start goes on from there."
    ),
    examples=("crossply controller", "crossply controller --kubeconfig ./kubeconfig --context=test"),
    run=run,
    flags=(
        Flag("kubeconfig", "The kubeconfig file to use instead of the usual one.", kind="path"),
        Flag("context", "The context of the kubeconfig to use.", kind="string"),
        *WEBHOOK_FLAGS,
        metrics_port(8080),
        LOG_FORMAT,
        debug_flag("d"),
    ),
)
