"""`crossply resource trace`: show a resource, its descendants, and why it is not ready.

`resource_tree` finds the kind and loads the tree; `output` writes it, as JSON or YAML itself, otherwise with
`table` or `graph`. `causes` says why it is not ready, `watch` writes it again whenever something changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.common_flags import CONTEXT, IMPERSONATION, output_flag

if TYPE_CHECKING:
    from crossply.kube.config import ClusterConfig
    from crossply.resource_tree.trace_target import Target


def run(invocation: Invocation) -> int:
    """Trace once, or until the resource is deleted."""
    import asyncio

    from crossply.cli.framework.cluster_configuration import configuration
    from crossply.resource_tree.trace_target import parse_target

    config = configuration(invocation)
    target = parse_target(invocation["resource"], invocation["name"] or "")
    try:
        asyncio.run(_trace(invocation, config, target))
    except KeyboardInterrupt:
        if not invocation["watch"]:
            raise
    return 0


async def _trace(invocation: Invocation, config: ClusterConfig, target: Target) -> None:
    from crossply.cli.framework.progress import progress
    from crossply.cli.trace.output import Output
    from crossply.kube.client import Client
    from crossply.resource_tree.package_tree import Choice
    from crossply.resource_tree.tree_loader import TraceOptions, loading_for

    output = Output(invocation)
    options = TraceOptions(
        invocation["namespace"] or "",
        invocation["concurrency"],
        invocation["show-connection-secrets"],
        Choice(
            invocation["show-package-dependencies"],
            invocation["show-package-revisions"],
            invocation["show-package-runtime-configs"],
        ),
        origins=output.explains,
    )
    async with Client(config) as client:
        with progress(invocation, "reading"):
            loading = await loading_for(client, target, options)
            trace = await (loading.load_one() if target.name else loading.load_all())
        if not target.name:
            output.write(trace)
            if invocation["watch"]:
                invocation.stdout.write("error: you may only watch a single resource at a time\n")
        elif invocation["watch"]:
            await output.watch(client, loading, trace.roots[0])
        else:
            output.write(trace)


COMMAND = Command(
    "trace",
    "Show a resource, its descendants, and why it is not ready.",
    run,
    arguments=(
        Argument(
            "resource",
            "Kind of the Crossplane resource, accepts the 'TYPE[.VERSION][.GROUP][/NAME]' format.",
        ),
        Argument(
            "name",
            "Name of the Crossplane resource, can be passed as part of the resource too.",
            optional=True,
        ),
    ),
    flags=(
        CONTEXT,
        Flag("namespace", "Namespace of the resource.", short="n", kind="string", default=""),
        output_flag("default", "wide", "json", "dot", "yaml", "mermaid"),
        Flag("show-connection-secrets", "Show connection secrets in the output.", short="s"),
        Flag(
            "show-package-dependencies",
            "Show package dependencies in the output. One of: unique, all, none.",
            kind="string",
            default="unique",
            choices=("unique", "all", "none"),
        ),
        Flag(
            "show-package-revisions",
            "Show package revisions in the output. One of: active, all, none.",
            kind="string",
            default="active",
            choices=("active", "all", "none"),
        ),
        Flag("show-package-runtime-configs", "Show package runtime configs in the output."),
        Flag("concurrency", "How many resources are read at once.", kind="int", default="5"),
        Flag("watch", "Watch for changes until resource deletion.", short="w"),
        *IMPERSONATION,
    ),
    description=(
        "Follows a claim to its XR, an XR to what it composed, and a package to its revisions and to the\n"
        "packages that it depends on. Without a name all resources of the kind are shown.\n\n"
        "On a terminal, and with -o wide, it also says what keeps a resource from being ready and which\n"
        "command to run next."
    ),
    examples=(
        "crossply resource trace app web -n apps",
        "crossply resource trace app/web -n apps -o wide",
        "crossply resource trace apps.v1beta1.example.org -n apps",
        "crossply resource trace app web -n apps --watch",
        "crossply resource trace app web -n apps -o mermaid",
        "crossply resource trace configuration platform --show-package-revisions all",
    ),
)
