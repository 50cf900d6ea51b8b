"""`crossply explain`: why a resource is as it is, where a field comes from, or what an error means.

`error_pages` answers for codes such as CP-207, offline. `diagnosis` explains resources, `text_output` writes
it, and `field_sources` shows where the fields of a composed resource come from.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.cli.framework.common_flags import CONTEXT, DEFAULT_OR_JSON, IMPERSONATION

if TYPE_CHECKING:
    from crossply.kube.config import ClusterConfig
    from crossply.resource_tree.trace_target import Target

_CODE = re.compile(r"(?:CP-?)?\d+|CP-.*", re.IGNORECASE)
_FORM = "name a resource as TYPE/NAME, or an error as CP-207"


def run(invocation: Invocation) -> int:
    """Explain a resource, a field of one, or an error."""
    words = [invocation["what"], *(invocation["more"] or ())]
    if len(words) == 1 and _CODE.fullmatch(words[0]):
        from crossply.cli.explain.error_pages import write_page

        write_page(invocation, words[0])
        return 0
    import asyncio

    from crossply.cli.framework.cluster_configuration import configuration
    from crossply.cli.framework.progress import progress
    from crossply.resource_tree.trace_target import parse_target

    with_name = "/" in words[0]
    names, field = (words[:1], words[1:]) if with_name else (words[:2], words[2:])
    if len(names) + with_name < 2 or len(field) > 1:
        raise UsageError(_FORM)
    target = parse_target(*names) if len(names) == 2 else parse_target(names[0], "")
    config = configuration(invocation)
    with progress(invocation, "reading the cluster") as line:
        text = asyncio.run(_explain(invocation, config, target, field[0] if field else ""))
        with line.hidden():
            invocation.stdout.write(text)
    return 0


async def _explain(invocation: Invocation, config: ClusterConfig, target: Target, field: str) -> str:
    from crossply.cli.explain.field_sources import load_fields, write_fields
    from crossply.cli.explain.text_output import as_json, as_text
    from crossply.cli.local_control_plane.data_directory import data_directory_of
    from crossply.diagnosis.explanation import explain_resource
    from crossply.diagnosis.package_logs import PackageLogs
    from crossply.kube.client import Client
    from crossply.resource_tree.node import RESOURCE_NAME
    from crossply.resource_tree.package_tree import Choice
    from crossply.resource_tree.tree_loader import TraceOptions, loading_for

    choice = Choice("unique", "active", False)
    options = TraceOptions(invocation["namespace"] or "", 5, False, choice, not field, not field)
    is_json = invocation["output"] == "json"
    async with Client(config) as client:
        loading = await loading_for(client, target, options)
        root = (await loading.load_one()).roots[0]
        annotations = root.metadata.get("annotations") or {}
        explains_fields = field or annotations.get(RESOURCE_NAME)
        fields = await load_fields(client, root, field) if explains_fields else None
        if field and fields is not None:
            return as_json(None, fields.to_json()) if is_json else write_fields(fields, invocation.style)
        logs = PackageLogs(client, data_directory_of(invocation.environ))
        explanation = await explain_resource(client, loading.reader, root, logs.tail)
    if is_json:
        return as_json(explanation, [] if fields is None else fields.to_json())
    text = as_text(explanation, invocation.style)
    return text if fields is None else text + write_fields(fields, invocation.style)


COMMAND = Command(
    "explain",
    "Explain why a resource is not ready, where a field comes from, or an error.",
    run,
    arguments=(
        Argument("what", "TYPE[.VERSION][.GROUP]/NAME of any resource, or the code of an error."),
        Argument(
            "more",
            "The name, if it is not part of the first argument; a field such as spec.forProvider.region.",
            optional=True,
            many=True,
        ),
    ),
    flags=(
        CONTEXT,
        Flag("namespace", "Namespace of the resource.", short="n", kind="string", default=""),
        DEFAULT_OR_JSON,
        *IMPERSONATION,
    ),
    description=(
        "Explains why a claim, an XR, a composed or managed resource, or a package is not ready: the root\n"
        "cause, the evidence, and the command to run next. For an XR, also shows why it uses its\n"
        "Composition and revision, what starts its next reconcile, and what blocks its deletion. With a\n"
        "field, shows where the field comes from.\n"
        "\n"
        "For an error code, prints the page of the error. This needs no cluster."
    ),
    examples=(
        "crossply explain app/web -n apps",
        "crossply explain buckets.example.org/web-a -n apps spec.forProvider.region",
        "crossply explain provider/provider-sql",
        "crossply explain app/web -n apps -o json",
        "crossply explain CP-207",
    ),
)
