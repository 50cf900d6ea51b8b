"""Inserts a step into the Composition of a file and leaves every other line unchanged."""

from __future__ import annotations

from crossply.kinds.composition_defaults import PIPELINE, composition_mode
from crossply.manifests.file_io import ConvertError
from crossply.values import Object
from crossply.values.yaml import YamlError, read_documents
from crossply.values.yaml.text_edit import item_inserted

_PIPELINE = ("spec", "pipeline")


def with_step(data: bytes, source: str, name: str, function: str) -> tuple[Object, str]:
    """The unchanged Composition of a file, and its text with the step inserted first."""
    composition = _composition(data, source)
    pipeline = composition["spec"].get("pipeline") or []
    present = [step for step in pipeline if isinstance(step, dict) and step.get("step") == name]
    for step in present:
        called = (step.get("functionRef") or {}).get("name", "")
        if called != function:
            raise ConvertError(
                f'composition already has a step named "{name}" referencing function "{called}"',
                place=source,
                hint="rename the function or edit the pipeline by hand",
            )
    if present:
        return composition, data.decode("utf-8", "replace")
    step = {"step": name, "functionRef": {"name": function}}
    spec = {**composition["spec"], "pipeline": [step, *pipeline]}
    return composition, item_inserted(data, {**composition, "spec": spec}, _PIPELINE, 0)


def _composition(data: bytes, source: str) -> Object:
    try:
        objects = [document.value for document in read_documents(data, source) if document.value is not None]
    except YamlError as problem:
        raise problem.within("cannot unmarshal composition") from None
    value = objects[0] if len(objects) == 1 else None
    if not isinstance(value, dict) or value.get("kind") != "Composition":
        raise ConvertError(
            f"{source} is not a Composition", hint="name a file that holds one Composition and nothing else"
        )
    spec = value.get("spec")
    if not isinstance(spec, dict) or composition_mode(spec) != PIPELINE:
        raise ConvertError(
            f"the Composition of {source} has no pipeline",
            hint="crossply convert makes Compositions of older forms pipelines; set mode: Pipeline",
        )
    if not isinstance(spec.get("pipeline") or [], list):
        raise ConvertError(f"the pipeline of the Composition of {source} is not a list", place=source)
    return value
