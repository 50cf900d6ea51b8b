"""The flags that `render` and `operation render` share."""

from __future__ import annotations

from crossply.cli.framework.command import Flag

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
    "the image, with crun or runc), or docker. By default builtin, else container. builtin also replaces "
    "render.crossplane.io/runtime: Development.",
    kind="string",
    choices=("builtin", "container", "docker"),
    placeholder="builtin|container|docker",
)
OUTPUT = Flag(
    "output",
    "The form of the output: yaml, or json for one List.",
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
    "Path to the project file. Steps can call the functions of the project, too.",
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
