"""Loads the Operation of a rendering: its own, or the one that a CronOperation or WatchOperation creates."""

from __future__ import annotations

from crossply.compose.object_metadata import metadata_of, name_of, text_in
from crossply.kinds.operation import API_VERSION
from crossply.manifests.files import SourceError, first_document
from crossply.values import Object
from crossply.values.yaml import Document


def load_operation(path: str) -> Object:
    """The Operation in a file."""
    purpose = f'cannot unmarshal type metadata from "{path}"'
    return operation_in(first_document(path, purpose, f'cannot read operation file "{path}"'))


def operation_in(document: Document) -> Object:
    """The Operation in a document, or the one that a CronOperation or WatchOperation would create."""
    value = document.value if isinstance(document.value, dict) else {}
    api_version, kind = text_in(value, "apiVersion"), text_in(value, "kind")
    if api_version == API_VERSION and kind == "Operation":
        return value
    if api_version != API_VERSION or kind not in ("CronOperation", "WatchOperation"):
        raise SourceError(
            f"not an operation type: {kind}/{api_version}",
            place=f"{document.source}:{document.line}",
            hint=f"expected an Operation, a CronOperation or a WatchOperation of {API_VERSION}",
        )
    spec = value.get("spec")
    template = spec.get("operationTemplate") if isinstance(spec, dict) else None
    template = template if isinstance(template, dict) else {}
    metadata = {**metadata_of(template), "name": name_of(value)}
    return {
        "apiVersion": API_VERSION,
        "kind": "Operation",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


def functions_of_operation(operation: Object) -> set[str]:
    """The functions of its steps; what is wrong with them is reported when it is rendered."""
    spec = operation.get("spec")
    pipeline = spec.get("pipeline") if isinstance(spec, dict) else None
    steps = [step for step in pipeline if isinstance(step, dict)] if isinstance(pipeline, list) else []
    references = [step.get("functionRef") for step in steps]
    return {name_of({"metadata": reference}) for reference in references if isinstance(reference, dict)}
