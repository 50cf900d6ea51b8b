"""A resource tree as a graph: Graphviz's dot, as Crossplane writes it, or Mermaid for Markdown."""

from __future__ import annotations

from typing import NamedTuple

from crossply.resource_tree.node import Node, Trace, unready_children
from crossply.resource_tree.trace_target import TraceError
from crossply.values.field_path import PathError, get_string
from crossply.values.goquote import quote

_MERMAID_STYLES = (
    "ready fill:#d7f5dc,stroke:#2e7d32",
    "waiting fill:#fff3cd,stroke:#b8860b",
    "failed fill:#f8d7da,stroke:#b02a37",
)


class Drawn(NamedTuple):
    """A node with its number, and that of the node above it (0 for none)."""

    number: int
    parent: int
    node: Node


def dot(trace: Trace) -> str:
    """Write a graph for Graphviz. Its library sorts nodes by their numbers as texts."""
    drawn = _by_level(trace)
    if not drawn:
        raise TraceError("cannot print output: resource list is empty", hint=trace.empty_hint)
    as_text = sorted(drawn, key=lambda item: str(item.number - 1))
    nodes = [f'n{item.number}[label={quote(_dot_label(item.node))},penwidth="2"];' for item in as_text]
    edges = [item for item in drawn if item.parent]
    edges.sort(key=lambda item: str(item.parent - 1))
    links = [f"n{item.parent}--n{item.number};" for item in edges]
    return "graph  {\n\t\n" + "".join(f"\t{line}\n" for line in nodes + links) + "\t\n}\n"


def mermaid(trace: Trace) -> str:
    """A Mermaid flowchart; colours show ready, waiting and failed resources."""
    lines = ["graph TD"]
    drawn = _by_level(trace)
    unready = {id(child) for item in drawn for child in unready_children(item.node)}
    for item in drawn:
        style = "waiting" if id(item.node) in unready else _style(item.node)
        lines.append(f'  n{item.number}["{_mermaid_label(item.node)}"]:::{style}')
        if item.parent:
            lines.append(f"  n{item.parent} --> n{item.number}")
    lines += [f"  classDef {style}" for style in _MERMAID_STYLES]
    return "".join(f"{line}\n" for line in lines)


def _by_level(trace: Trace) -> list[Drawn]:
    """All nodes, numbered level by level."""
    drawn: list[Drawn] = []
    waiting = [(0, root) for root in trace.roots]
    while waiting:
        below = []
        for parent, node in waiting:
            drawn.append(Drawn(len(drawn) + 1, parent, node))
            below += [(len(drawn), child) for child in node.children]
        waiting = below
    return drawn


def _dot_label(node: Node) -> str:
    lines = _package_lines(node) if node.is_package or node.is_package_revision else _resource_lines(node)
    return "".join(f"{line}\n" for line in lines)


def _resource_lines(node: Node) -> list[str]:
    api_version, kind, name, namespace = node.reference
    return [
        f"Name: {kind}/{name}",
        f"ApiVersion: {api_version}",
        *([f"Namespace: {namespace}"] if namespace else ()),
        f"Ready: {node.condition('Ready').status}",
        f"Synced: {node.condition('Synced').status}",
    ]


def _package_lines(node: Node) -> list[str]:
    healthy, installed, state, error = node.condition("Healthy"), "", "", ""
    if node.is_package:
        installed = node.condition("Installed").status
    else:
        state = healthy.reason
    try:
        image = get_string(node.object, "spec.package" if node.is_package else "spec.image")
    except PathError as problem:
        image, error = "", str(problem)
    return [
        f"Name: {node.reference.name}",
        f"ApiVersion: {node.reference.api_version}",
        f"Package: {image}",
        *([f"Installed: {installed}"] if installed else ()),
        f"Healthy: {healthy.status}",
        *([f"State: {state}"] if state else ()),
        *([f"Error: {error}"] if error else ()),
    ]


def _mermaid_label(node: Node) -> str:
    names = ("Installed", "Healthy") if node.is_package or node.is_package_revision else ("Synced", "Ready")
    conditions = [f"{name}: {node.condition(name).status}" for name in names if node.condition(name).status]
    if node.problem:
        conditions = [node.problem.message]
    return "<br/>".join([_mermaid_text(node.label), *map(_mermaid_text, conditions)])


def _mermaid_text(text: str) -> str:
    """Text with what Mermaid would read as its own signs written as entities."""
    return "".join(char if char.isalnum() or char in " /.:_-()," else f"#{ord(char)};" for char in text)


def _style(node: Node) -> str:
    if node.problem or "False" in (node.condition("Synced").status, node.condition("Installed").status):
        return "failed"
    last = node.condition("Healthy" if node.is_package or node.is_package_revision else "Ready")
    return "waiting" if node.deleting or last.status not in ("True", "") else "ready"
