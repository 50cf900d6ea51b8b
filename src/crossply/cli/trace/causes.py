"""The causes below a tree: why something is not ready, and the command to run next."""

from __future__ import annotations

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import PLAIN, Style
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import explain_command, in_tree_order
from crossply.resource_tree.node import Trace

MOST_SHOWN = 5


def explain(trace: Trace, style: Style = PLAIN) -> str:
    """Say what is wrong and what to do; nothing where all is well."""
    causes: dict[tuple[str, ...], Cause] = {}
    for root in trace.roots:
        for finding in in_tree_order(root):
            cause = finding.cause._replace(command=explain_command(finding))
            causes.setdefault((*cause.ref, cause.sentence), cause)
    if not causes:
        return ""
    lines = [style.bold("Not ready because of:")]
    for cause in list(causes.values())[:MOST_SHOWN]:
        lines.append(f"  {' '.join(harmless(cause.text).split())}")
        lines.append(f"    next: {style.accent(harmless(cause.command))}")
    if len(causes) > MOST_SHOWN:
        lines.append(f"  and {len(causes) - MOST_SHOWN} more")
    return "".join(f"{line}\n" for line in lines)
