"""`crossply plan`: show what applying files would change in the running control plane.

`control.planning` computes the plan; `text_output` or `json_output` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.controller.function_flags import HOST_ACCESS_FLAGS, host_access
from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell, output_flag
from crossply.cli.framework.progress import progress
from crossply.cli.local_control_plane.data_directory import data_directories_near

if TYPE_CHECKING:
    from crossply.control.planning.plan_entry_point import PlanResult

NOTHING, FAILING, CHANGES = 0, 1, 3
"""Exit codes."""


def run(invocation: Invocation) -> int:
    """Make the plan and write it."""
    import asyncio

    from crossply.control.planning.plan_entry_point import PlanRequest, make_plan
    from crossply.kube.config import load_config
    from crossply.manifests.files import read_objects

    allow_shell(invocation)
    files = [*invocation["files"], *invocation["filename"]]
    if not files:
        raise UsageError("name at least one file or directory", hint="crossply plan xr.yaml")
    config = load_config(invocation["kubeconfig"], invocation["context"] or "", invocation.environ)
    objects = read_objects(files, invocation.stdin)
    namespace = invocation["namespace"] or config.namespace
    request = PlanRequest(
        tuple(objects),
        invocation["delete"],
        invocation["field-manager"] or "",
        namespace,
        host_access(invocation, *data_directories_near(invocation["kubeconfig"] or "", invocation.environ)),
        invocation["explain"],
    )
    with progress(invocation, "planning") as line:
        result = asyncio.run(make_plan(config, request, lambda done, total: line.count(done, total, "XRs")))
    _write(invocation, result)
    if result.plan.is_failing:
        return FAILING
    return CHANGES if result.plan.is_changing else NOTHING


def _write(invocation: Invocation, result: PlanResult) -> None:
    if invocation["output"] == "json":
        from crossply.cli.plan.json_output import as_json

        invocation.stdout.write(as_json(result))
        return
    from crossply.cli.plan.text_output import Text

    invocation.stdout.write(Text(result, invocation.style).whole())


COMMAND = Command(
    name="plan",
    summary="Show what applying files would change in the control plane.",
    description=(
        "Shows for every affected composite resource (XR) what would be created, changed and "
        "deleted, field by field. Nothing is written: the controllers' own code runs on a copy "
        "of the cluster's state, and every write is a dry run.\n"
        "\n"
        "A Composition affects all XRs that use it, an XRD all XRs of its kind. XRs that compose "
        "other XRs are followed. Functions are called as the control plane would call them. "
        "Those that are not built in must be reachable from this machine. Functions that are "
        "files or commands of this machine run only if the planned files name them or a flag "
        "allows it.\n"
        "\n"
        "Exit codes: 0 nothing would change, 3 something would change, 1 something would fail."
    ),
    examples=(
        "crossply plan xr.yaml",
        "crossply plan composition.yaml",
        "crossply plan composition.yaml --explain",
        "crossply plan platform/ xr.yaml -o json",
        "kustomize build overlays/test | crossply plan -",
        "crossply plan --delete xr.yaml",
    ),
    run=run,
    arguments=(
        Argument(
            "files",
            "Files, directories of YAML files, or - for standard input.",
            optional=True,
            many=True,
        ),
    ),
    flags=(
        Flag(
            "filename",
            "A file argument as a flag, as for kubectl. Repeatable.",
            short="f",
            kind="strings",
            placeholder="FILE",
            separator="",
        ),
        output_flag("text", "json"),
        Flag(
            "explain",
            "Show for each field which step would set it, by which patch or line of a template, and from "
            "which fields.",
        ),
        Flag("delete", "Show what deleting the objects of the files would delete."),
        Flag(
            "namespace",
            "The namespace of objects without one. Defaults to that of the kubeconfig's context.",
            short="n",
            kind="string",
        ),
        Flag("kubeconfig", "The kubeconfig file. Defaults to $KUBECONFIG, or ~/.kube/config.", kind="path"),
        Flag("context", "The context of the kubeconfig to use.", short="c", kind="string"),
        Flag(
            "field-manager",
            "Plan a server-side apply by this field manager, instead of kubectl apply.",
            kind="string",
        ),
        *HOST_ACCESS_FLAGS,
        *SHELL_FLAGS,
    ),
)
