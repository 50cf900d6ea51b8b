"""`crossply render`: render a composite resource without Docker or a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.render import flags
from crossply.cli.render.flags import build_context, functions_for
from crossply.compose.errors import ComposeError, RenderInputError, StepFailed
from crossply.compose.events import OBSERVED_CHANGED
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.prepared_composition import prepare
from crossply.errors import CrossplyError
from crossply.functions.builtin import PUBLISHED
from crossply.kinds.composition import Composition
from crossply.provenance.call_recorder import CallRecorder
from crossply.rendering import inputs
from crossply.rendering.output import documents, write_json, write_yaml
from crossply.rendering.running_functions import caller, running
from crossply.values import Object


def run(invocation: Invocation) -> int:
    """Render once, or again and again with --watch."""
    allow_shell(invocation)
    if invocation["watch"]:
        from crossply.cli.framework.file_watcher import watch

        return watch(invocation, render, lambda: files_of(invocation))
    return render(invocation)


def render(invocation: Invocation) -> int:
    """Load, render, write."""
    xr = inputs.load_composite(invocation["composite-resource"])
    file = inputs.load_composition(invocation["composition"])
    inputs.check_fit(xr, file)
    inputs.require_explicit_mode(file)
    functions = functions_for(invocation, file)
    definition = inputs.load_definition(invocation["xrd"]) if invocation["xrd"] else None
    if definition is not None:
        xr = _with_defaults(xr, definition)
    recorder = CallRecorder()
    try:
        with _progress(invocation):
            rendered = _render(invocation, xr, definition, file, functions, recorder)
    finally:
        _warn_of_absent_requirements(invocation, recorder)  # also where a step failed: this may be why
    if invocation["explain"]:
        return _write_explained(invocation, rendered, recorder)
    shown = documents(
        rendered,
        xr if invocation["include-full-xr"] else None,
        results=invocation["include-function-results"],
        context=invocation["include-context"],
    )
    write = write_json if invocation["output"] == "json" else write_yaml
    write(shown, invocation.stdout)
    for event in rendered.events:
        if event.reason == OBSERVED_CHANGED:
            invocation.stderr.write(f"crossply: warning: {event.message}\n")
    return 0


def _warn_of_absent_requirements(invocation: Invocation, recorder: CallRecorder) -> None:
    if all(call.response.requirements is None for call in recorder.calls()):
        return
    from crossply.provenance.call_recorder import absent_requirements

    for sentence in absent_requirements(recorder.calls()):
        invocation.stderr.write(f"crossply: warning: {harmless(sentence)}: --required-resources=FILE\n")


def _progress(invocation: Invocation) -> AbstractContextManager[object]:
    """A line on a terminal; nothing is imported for it elsewhere."""
    if not invocation.stderr.isatty():
        return nullcontext()
    from crossply.cli.framework.progress import progress

    return progress(invocation, "rendering")


def _write_explained(invocation: Invocation, rendered: Rendered, recorder: CallRecorder) -> int:
    from crossply.cli.render.explain_output import explained_json, explained_text
    from crossply.provenance.pipeline import explain_pipeline

    provenance = explain_pipeline(recorder.calls())
    if invocation["output"] == "json":
        invocation.stdout.write(explained_json(rendered, provenance))
    else:
        invocation.stdout.write(explained_text(rendered, provenance, invocation.style))
    return 0


def _render(
    invocation: Invocation,
    xr: Object,
    definition: Object | None,
    file: inputs.CompositionFile,
    functions: list[Object],
    recorder: CallRecorder,
) -> Rendered:
    secrets = inputs.load_secrets(path) if (path := invocation["function-credentials"]) else []
    observed = _load_observed(invocation["observed-resources"])
    required = inputs.load_required(invocation["required-resources"], "required resources")
    required += inputs.load_required(invocation["extra-resources"], "extra resources")
    schemas = inputs.load_schemas(invocation["required-schemas"])
    context = build_context(invocation["context-files"], invocation["context-values"])
    definitions = [] if definition is None else [definition]
    world = InMemoryCluster([*observed, *required], secrets, schemas, lambda: definitions)
    with running(functions, invocation["function-runtime"]) as runners:
        machinery = inputs.machinery_for(xr, definition)
        call = recorder.recorded(caller(runners, invocation["timeout"]))
        rendering = Rendering(machinery, world, call)
        try:
            if definition is not None:
                _check_contract(definition, file.composition)
            return rendering.run(xr, prepare(file.composition), observed, context)
        except (StepFailed, RenderInputError) as problem:
            raise problem.within("cannot render composite resource") from None
        except ComposeError as problem:
            raise problem.within("cannot render composite resource: reconcile failed") from None


def _check_contract(definition: Object, composition: Composition) -> None:
    from crossply.compose.connection_secret_key_coverage import check_contract
    from crossply.kinds.definition import parse_definition

    check_contract(parse_definition(definition), composition)


def _load_observed(path: str | None) -> list[Object]:
    if not path:
        return []
    return inputs.load_objects(
        path, "observed composed resources", "cannot parse YAML composed resource manifest"
    )


def _with_defaults(xr: Object, definition: Object) -> Object:
    from crossply.rendering.required_schemas import apply_definition_defaults

    try:
        return apply_definition_defaults(xr, definition)
    except CrossplyError as problem:
        name = (xr.get("metadata") or {}).get("name", "")
        raise problem.within(f'cannot apply XRD defaults to XR "{name}"') from None


_PATHS = (
    "composite-resource",
    "composition",
    "functions",
    "observed-resources",
    "function-credentials",
    "xrd",
)
_LISTS = ("required-resources", "extra-resources")


def files_of(invocation: Invocation) -> Iterable[str]:
    """Every file that the command line names, and those in the directories that it names."""
    for name in _PATHS:
        yield from _within(invocation[name])
    for name in _LISTS:
        for path in invocation[name] or ():
            yield from _within(path)
    yield from (invocation["context-files"] or {}).values()
    for folder, _, names in os.walk(invocation["required-schemas"] or ""):
        yield from (os.path.join(folder, name) for name in names)


def _within(path: str | None) -> Iterable[str]:
    """The file itself, or the files right inside a directory."""
    if not path:
        return
    yield path
    with suppress(OSError):  # not a directory, or not any more
        yield from [os.path.join(path, name) for name in os.listdir(path)]


COMMAND = Command(
    name="render",
    summary="Render a composite resource (XR).",
    description=(
        "Shows the result of a Composition for a composite resource: the composite resource with its status, "
        "and all its composed resources. The same engine runs in the control plane. Only the functions are "
        "called. These functions are built in and run without Docker: "
        f"{', '.join(PUBLISHED)}."
    ),
    examples=(
        "crossply render xr.yaml composition.yaml functions.yaml",
        "crossply render xr.yaml composition.yaml functions.yaml --observed-resources observed.yaml -r",
        "crossply render xr.yaml composition.yaml functions.yaml --required-resources environment.yaml -c",
        "crossply render xr.yaml composition.yaml functions.yaml --xrd definition.yaml --watch",
        "crossply render xr.yaml composition.yaml functions.yaml --explain",
    ),
    run=run,
    arguments=(
        Argument(
            "composite-resource",
            "A YAML file specifying the composite resource (XR) to render.",
            kind="existing-file",
        ),
        Argument(
            "composition",
            "A YAML file specifying the Composition to use to render the XR.",
            kind="existing-file",
        ),
        Argument(
            "functions",
            "A YAML file or directory of YAML files specifying the Composition Functions to use to render "
            "the XR. Not needed for a Composition without a pipeline.",
            kind="path",
            optional=True,
        ),
    ),
    flags=(
        flags.CONTEXT_FILES,
        flags.CONTEXT_VALUES,
        flags.RESULTS,
        Flag(
            "include-full-xr",
            "Include a direct copy of the input XR's spec and metadata fields in the rendered output.",
            short="x",
        ),
        Flag(
            "observed-resources",
            "A YAML file or directory of YAML files specifying the observed state of composed resources.",
            short="o",
            kind="path",
            placeholder="PATH",
        ),
        Flag(
            "extra-resources",
            "The older name of --required-resources.",
            kind="paths",
            placeholder="PATH",
        ),
        flags.REQUIRED_RESOURCES,
        Flag(
            "required-schemas",
            "A directory of JSON files specifying OpenAPI v3 schemas (from kubectl get --raw "
            "/openapi/v3/<group-version>). Kinds that --xrd or a CRD in --required-resources defines need "
            "none.",
            short="s",
            kind="path",
            placeholder="DIR",
        ),
        flags.CONTEXT,
        flags.CREDENTIALS,
        flags.ANNOTATIONS,
        flags.RUNTIME,
        *SHELL_FLAGS,
        flags.OUTPUT,
        Flag(
            "explain",
            "Show where each field comes from, instead of the resources: which step set it, by which patch "
            "or line of a template, and from which fields of which objects.",
        ),
        Flag("watch", "Render again whenever one of the files changes, until interrupted."),
        flags.TIMEOUT,
        Flag(
            "xrd",
            "A YAML file specifying the CompositeResourceDefinition (XRD) that defines the XR's schema and "
            "properties.",
            kind="existing-file",
            placeholder="PATH",
        ),
        flags.PROJECT,
        *flags.ACCEPTED,
    ),
)
