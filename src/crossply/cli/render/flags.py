"""The flags that `render` and `operation render` share, and reading the files that they name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from crossply.cli.framework.command import Flag, Invocation
from crossply.compose.object_metadata import annotations_of, metadata_of
from crossply.manifests.files import read_bytes
from crossply.project import file_in
from crossply.rendering import inputs
from crossply.values import Object
from crossply.values.protobuf_struct import to_wire
from crossply.values.yaml import YamlError, read_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.project.function_manifests import BestTag

CONTEXT_FILES = Flag(
    "context-files",
    "Context key-value pairs to pass to the Function pipeline. Values must be files containing JSON/YAML.",
    kind="map",
    separator="",
    placeholder="KEY=VALUE;...",
)
CONTEXT_VALUES = Flag(
    "context-values",
    "Context key-value pairs to pass to the Function pipeline. Values must be JSON/YAML. Keys take "
    "precedence over --context-files.",
    kind="map",
    separator="",
    placeholder="KEY=VALUE;...",
)
RESULTS = Flag(
    "include-function-results",
    "Include informational and warning messages from Functions in the rendered output as resources "
    "of kind: Result.",
    short="r",
)
REQUIRED_RESOURCES = Flag(
    "required-resources",
    "A YAML file or directory of YAML files specifying required resources to pass to the Function "
    "pipeline. Provide multiple files by repeating the argument.",
    short="e",
    kind="paths",
    placeholder="PATH",
)
CONTEXT = Flag(
    "include-context",
    "Include the context in the rendered output as a resource of kind: Context.",
    short="c",
)
CREDENTIALS = Flag(
    "function-credentials",
    "A YAML file or directory of YAML files specifying credentials to use for Functions.",
    kind="path",
    placeholder="PATH",
)
ANNOTATIONS = Flag(
    "function-annotations",
    "Override function annotations for all functions. Provide multiple annotations by repeating "
    "the argument.",
    short="a",
    kind="strings",
    placeholder="KEY=VALUE,...",
)
RUNTIME = Flag(
    "function-runtime",
    "How to run functions that have no runtime annotation: builtin (where there is one), container (from "
    "the image, with crun or runc), or docker. By default builtin for published packages, else container. "
    "builtin also replaces packages of other organisations that have the name of a built-in function, and "
    "render.crossplane.io/runtime: Development.",
    kind="string",
    choices=("builtin", "container", "docker"),
    placeholder="builtin|container|docker",
)
OUTPUT = Flag(
    "output",
    "The output format: yaml, or json for one List.",
    kind="string",
    default="yaml",
    choices=("yaml", "json"),
    placeholder="yaml",
)
TIMEOUT = Flag(
    "timeout",
    "How long to run before timing out.",
    kind="duration",
    default="1m",
    placeholder="1m",
)
PROJECT = Flag(
    "project-file",
    "Path to the project file: crossplane-project.yaml, or else upbound.yaml. Steps can call the functions "
    "of the project, too.",
    short="f",
    kind="path",
    placeholder='"crossplane-project.yaml"',
)

_OWN_ENGINE = "Crossply is the engine"
_NOTHING_BUILT = "no package is built or fetched into a cache"
ACCEPTED = (
    Flag("cache-dir", "No effect.", kind="path", hidden=True, no_effect=_NOTHING_BUILT),
    Flag("max-concurrency", "No effect.", kind="int", default="8", hidden=True, no_effect=_NOTHING_BUILT),
    Flag("crossplane-version", "No effect.", kind="string", hidden=True, no_effect=_OWN_ENGINE),
    Flag("crossplane-image", "No effect.", kind="string", hidden=True, no_effect=_OWN_ENGINE),
    Flag("crossplane-binary", "No effect.", kind="path", hidden=True, no_effect=_OWN_ENGINE),
    Flag("crossplane-docker-network", "No effect.", kind="string", hidden=True, no_effect=_OWN_ENGINE),
)
"""Flags of command lines for Crossplane that are accepted and do nothing."""


def functions_for(invocation: Invocation, file: inputs.CompositionFile) -> list[Object]:
    """The functions to render with; a Composition from before pipelines needs none."""
    called = inputs.called_functions(file.composition)
    if not invocation["functions"] and not called:
        return []
    return named_functions(invocation, called, "crossply render xr.yaml composition.yaml functions.yaml")


def named_functions(invocation: Invocation, called: Collection[str], example: str) -> list[Object]:
    """The functions that the command line names and, in a project, those that are `called` besides.

    They have the annotations that the command line gives them.
    """
    path, project = invocation["functions"], _project_file(invocation)
    if not path and project is None:
        raise inputs.RenderRefused(
            "functions argument is required when not in a project",
            hint=f"name a file of Function packages, for example: {example}",
        )
    functions = inputs.load_functions(path) if path else []
    if project is not None:
        from crossply.rendering.available_functions import available_functions

        functions = available_functions(functions, called, project, _best_tag(invocation))
    return _annotated(functions, invocation["function-annotations"] or ())


def _project_file(invocation: Invocation) -> str | None:
    """The file of the project that the command is run in, if it is."""
    file: str = invocation["project-file"] or file_in(os.curdir)
    return file if os.path.exists(file) else None


def _best_tag(invocation: Invocation) -> BestTag:
    def best(source: str, constraint: str) -> str:
        from crossply.xpkg.user_image_pull import best_tag

        return best_tag(invocation, source, constraint)

    return best


def _annotated(functions: list[Object], overrides: Iterable[str]) -> list[Object]:
    """The functions with annotations of the command line over their own."""
    values = {}
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise inputs.RenderRefused(
                "cannot apply function annotation overrides: invalid function annotation format "
                f'"{override}", expected key=value'
            )
        values[key] = value
    if not values:
        return functions
    return [_with_annotations(function, values) for function in functions]


def _with_annotations(function: Object, overrides: dict[str, str]) -> Object:
    annotations = {**annotations_of(function), **overrides}
    return {**function, "metadata": {**metadata_of(function), "annotations": annotations}}


def build_context(files: Mapping[str, str] | None, values: Mapping[str, str] | None) -> Object:
    """The context from files, and over it from values of the command line."""
    texts: dict[str, str | bytes] = {}
    for key, path in (files or {}).items():
        texts[key] = read_bytes(path, f'cannot build context data: cannot read context value for key "{key}"')
    texts.update(values or {})
    return {key: to_wire(_parse(key, text)) for key, text in texts.items()}


def _parse(key: str, text: str | bytes) -> object:
    try:
        return read_first(text).value
    except YamlError as problem:
        raise problem.within(
            f'cannot parse context data: cannot unmarshal context value for key "{key}": '
            "error converting YAML to JSON"
        ) from None
