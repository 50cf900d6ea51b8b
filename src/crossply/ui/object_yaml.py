"""Objects as readable YAML: managed fields apart, values of Secrets left out, long lines cut. Pure."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import metadata_of
from crossply.values import Object
from crossply.values.yaml.emit import dump

MOST_CHARACTERS = 200_000
LONGEST_LINE = 600


class ObjectYaml(NamedTuple):
    text: str
    managed_fields: str
    """Empty where there are none."""
    is_cut: bool
    """Whether something was left out that the download has."""


def without_secret_values(obj: Object) -> Object:
    """The object; of a Secret only the names and sizes of its values."""
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "Secret"):
        return obj
    hidden: Object = {key: _sizes(obj[key]) for key in ("data", "stringData") if key in obj}
    metadata = dict(metadata_of(obj))
    annotations = metadata.get("annotations")
    if type(annotations) is dict:
        last = "kubectl.kubernetes.io/last-applied-configuration"
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != last}
    return {**obj, **hidden, "metadata": metadata}


def _sizes(values: object) -> object:
    if type(values) is not dict:
        return "(not shown)"
    return {key: f"({len(str(value))} characters, not shown)" for key, value in values.items()}


def whole_yaml(obj: Object) -> str:
    return dump(without_secret_values(obj))


def shown_yaml(obj: Object) -> ObjectYaml:
    """The YAML of a page."""
    shown = without_secret_values(obj)
    metadata = dict(metadata_of(shown))
    managed = metadata.pop("managedFields", None)
    text, is_cut = cut_lines(dump({**shown, "metadata": metadata}))
    folded, _ = cut_lines(dump(managed)) if managed else ("", False)
    return ObjectYaml(text, folded, is_cut)


def cut_lines(text: str) -> tuple[str, bool]:
    """The text with lines and as a whole cut to what a browser shows easily, and whether it was."""
    lines = [
        line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line)} characters)"
        for line in text[: 20 * MOST_CHARACTERS].splitlines()
    ]
    shown = "\n".join(lines)
    is_cut = len(shown) > MOST_CHARACTERS or len(text) > 20 * MOST_CHARACTERS
    if is_cut:
        shown = f"{shown[:MOST_CHARACTERS]}\n…"
    return shown, is_cut or any(len(line) > LONGEST_LINE for line in text.splitlines())
