"""Who last wrote the fields of a resource, and when: its field managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.printing import harmless
from crossply.cli.framework.styling import Style
from crossply.values import Object

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.resource_tree.node import Node


async def load_fields(client: Client, node: Node, field: str) -> list[Object]:
    """The fields at and below one, or of the spec: `{path, managers: [{manager, operation, time}]}`."""
    from crossply.apply.field_sets import decode_fields, path_text, paths

    managers: dict[str, list[Object]] = {}
    for entry in node.metadata.get("managedFields") or ():
        writer = {
            "manager": entry.get("manager"),
            "operation": entry.get("operation"),
            "time": entry.get("time"),
        }
        for path in paths(decode_fields(entry.get("fieldsV1") or {})):
            managers.setdefault(path_text(path).removeprefix("."), []).append(writer)
    field = field or "spec"
    return [
        {"path": path, "managers": managers[path]}
        for path in sorted(managers)
        if path == field or path.startswith((f"{field}.", f"{field}["))
    ]


def write_fields(fields: list[Object], style: Style) -> str:
    """One line a field."""
    if not fields:
        return ""
    lines = ["", style.bold("Fields")]
    for entry in fields:
        writers = ", ".join(f"{writer['manager']} ({writer['time']})" for writer in entry["managers"])
        lines.append(f"  {harmless(entry['path'])}  {style.dim(harmless(writers))}")
    return "".join(f"{line}\n" for line in lines)
