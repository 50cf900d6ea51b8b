"""`crossply top`: show XRs by state, reconciles and functions of a control plane, live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.common_flags import CONTEXT, output_flag

if TYPE_CHECKING:
    from crossply.cli.top.metrics_source import Source
    from crossply.cli.top.output import KindStates
    from crossply.cli.top.rates import Figures, Reading
    from crossply.kube.config import ClusterConfig
    from crossply.ui.cluster_view import ClusterView

_ONCE_SECONDS = 1.0


def run(invocation: Invocation) -> int:
    """Show once, or until interrupted."""
    import asyncio

    data, config = _control_plane(invocation)
    try:
        asyncio.run(_show(invocation, config, data))
    except KeyboardInterrupt:
        if invocation["once"] or invocation["output"] == "json":
            raise
    return 0


def _control_plane(invocation: Invocation) -> tuple[str | None, ClusterConfig]:
    """The data directory, if it is one of `crossply up`, and how to reach the API server."""
    import os

    from crossply.cli.framework.cluster_configuration import cluster_configuration
    from crossply.cli.local_control_plane.data_directory import data_directory_of
    from crossply.kube.config import load_config

    data = invocation["data"]
    if data:
        return data, load_config(os.path.join(data, "kubeconfig"))
    config = cluster_configuration(invocation["context"], invocation.environ)
    return (None if invocation["context"] else data_directory_of(invocation.environ)), config


async def _show(invocation: Invocation, config: ClusterConfig, data: str | None) -> None:
    import asyncio

    from crossply.cli.framework.progress import progress
    from crossply.cli.framework.screen import Screen
    from crossply.cli.top.metrics_source import metrics_source
    from crossply.kube.client import Client
    from crossply.ui.cluster_view import ClusterView

    once = invocation["once"] or invocation["output"] == "json" or not invocation.stdout.isatty()
    pause = _ONCE_SECONDS if once else max(invocation["interval"], 0.1)
    screen = Screen(invocation.stdout, invocation.environ)
    async with Client(config) as client:
        await client.request("GET", "/version")  # a server that is down is an error, not an empty table
        source, view = metrics_source(client, data), ClusterView(client)
        try:
            with progress(invocation, "reading"):
                before, _ = await _read(source)
                await _kinds(view)
                await asyncio.sleep(pause if once else min(pause, _ONCE_SECONDS))
            while True:
                after, problem = await _read(source)
                written = _written(invocation, await _kinds(view), _figures(before, after), problem)
                if once:
                    invocation.stdout.write(written)
                    return
                screen.paint(written)
                before = after
                await asyncio.sleep(pause)
        finally:
            await view.close()


async def _read(source: Source) -> tuple[Reading | None, str]:
    import time

    from crossply.cli.top.metrics_source import NoMetrics
    from crossply.cli.top.rates import Reading
    from crossply.record.prometheus_text_parser import added

    try:
        pages = await source()
    except NoMetrics as problem:
        return None, f"{problem}; {problem.hint}"
    return Reading(time.monotonic(), added(pages), len(pages)), ""


def _figures(before: Reading | None, after: Reading | None) -> Figures | None:
    from crossply.cli.top.rates import figures

    return figures(before or after, after) if after else None


async def _kinds(view: ClusterView) -> list[KindStates]:
    from crossply.cli.top.output import KindStates

    return [
        KindStates(
            kind.kind.kind,
            kind.kind.resource,
            {state: count for state, count in kind.counts.items() if count},
        )
        for kind in await view.composites()
    ]


def _written(invocation: Invocation, kinds: list[KindStates], figures: Figures | None, problem: str) -> str:
    from crossply.cli.top.output import document, text

    if invocation["output"] == "json":
        import json

        return json.dumps(document(kinds, figures, problem), indent=2) + "\n"
    return text(kinds, figures, problem, invocation.style)


COMMAND = Command(
    "top",
    "Show XRs by state, reconciles and functions, live.",
    run,
    flags=(
        Flag("once", "Print the figures of one second and exit. The default if stdout is not a terminal."),
        output_flag("text", "json"),
        Flag("interval", "How often the figures are read.", kind="duration", default="2s"),
        CONTEXT,
        Flag(
            "data",
            "The data directory of a control plane on this machine. By default that of $KUBECONFIG.",
            kind="path",
            placeholder="DIR",
        ),
    ),
    description=(
        "Counts are read from the API server with your rights. Rates, latencies and cache hits come from the "
        "metrics of the control plane: on this machine through a socket in its data directory, in a cluster "
        "through the API server's proxy to its pods (the right to get pods/proxy is needed). Latencies are "
        "those of the calls since the last reading, or of all calls if there were none. For CPU and memory "
        "of pods see crossply cluster top."
    ),
    examples=("crossply top", "crossply top --data ./.crossply", "crossply top --once -o json"),
)
