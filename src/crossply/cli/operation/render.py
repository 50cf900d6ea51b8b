"""`crossply operation render`: render an Operation without Docker or a cluster."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell
from crossply.cli.render import flags
from crossply.cli.render.flags import build_context, named_functions
from crossply.compose.errors import ComposeError, StepFailed
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.operation_rendering import OperationRendering, RenderedOperation
from crossply.kinds.fields import KindError
from crossply.kinds.operation import with_watched
from crossply.manifests.files import SourceError
from crossply.rendering import inputs
from crossply.rendering.operation_inputs import functions_of_operation, load_operation
from crossply.rendering.output import in_order, write_json, write_yaml
from crossply.rendering.running_functions import caller, running
from crossply.values import Object

_EXAMPLE = "crossply operation render operation.yaml functions.yaml"


def run(invocation: Invocation) -> int:
    """Load, render, write."""
    allow_shell(invocation)
    operation = load_operation(invocation["operation"])
    _check_pipeline(operation, invocation["operation"])
    required = inputs.load_required(invocation["required-resources"], "required resources")
    schemas = inputs.load_schemas(invocation["required-schemas"])
    if invocation["watched-resource"]:
        watched = _load_watched(invocation["watched-resource"])
        operation = with_watched(operation, watched)
        required.append(watched)
    functions = named_functions(invocation, functions_of_operation(operation), _EXAMPLE)
    secrets = inputs.load_secrets(path) if (path := invocation["function-credentials"]) else []
    context = build_context(invocation["context-files"], invocation["context-values"])
    with running(functions, invocation["function-runtime"]) as runners:
        call = caller(runners, invocation["timeout"])
        rendered = _render(
            OperationRendering(InMemoryCluster(required, secrets, schemas), call), operation, context
        )
    _write(invocation, rendered)
    return 0


def _check_pipeline(operation: Object, path: str) -> None:
    """Refuse an Operation without steps, as the API server does."""
    spec = operation.get("spec")
    if isinstance(spec, dict) and spec.get("pipeline") == []:
        raise SourceError(
            "spec.pipeline: Invalid value: 0: spec.pipeline in body should have at least 1 items",
            place=path,
            hint="give the pipeline a step: the API server refuses an Operation without one",
        )


def _render(rendering: OperationRendering, operation: Object, context: Object) -> RenderedOperation:
    try:
        return rendering.run(operation, context)
    except StepFailed as problem:
        raise problem.within("cannot render operation") from None
    except (ComposeError, KindError) as problem:
        raise problem.within("cannot render operation: reconcile failed") from None


def _write(invocation: Invocation, rendered: RenderedOperation) -> None:
    objects = [*rendered.applied] if rendered.operation is None else [rendered.operation, *rendered.applied]
    events = rendered.events if invocation["include-function-results"] else ()
    shown = in_order(objects, events, rendered.context if invocation["include-context"] else None)
    write = write_json if invocation["output"] == "json" else write_yaml
    write(shown, invocation.stdout)


def _load_watched(path: str) -> Object:
    objects = inputs.load_objects(path, "watched resource", "cannot parse YAML resource manifest")
    if len(objects) != 1:
        raise inputs.RenderRefused(
            f"--watched-resource must contain exactly one resource, got {len(objects)}",
            hint="name a file with the one object whose change starts the operation",
        )
    return objects[0]


COMMAND = Command(
    name="operation render",
    summary="Render an Operation.",
    description=(
        "Shows what an Operation would apply: the Operation itself with its status, and every resource that "
        "the last step of its pipeline desires. A CronOperation or a WatchOperation is rendered as the "
        "Operation that it would create. The same engine runs in the control plane. Functions run as for "
        "render; built-in functions need no Docker."
    ),
    examples=(
        _EXAMPLE,
        "crossply operation render operation.yaml functions.yaml --required-resources cluster.yaml -r",
        "crossply operation render watchoperation.yaml functions.yaml --watched-resource configmap.yaml",
        "crossply operation render cronoperation.yaml functions.yaml --include-context",
    ),
    run=run,
    arguments=(
        Argument(
            "operation",
            "A YAML file specifying the Operation, CronOperation or WatchOperation to render.",
            kind="existing-file",
        ),
        Argument(
            "functions",
            "A YAML file or directory of YAML files specifying the functions to use to render the Operation.",
            kind="path",
            optional=True,
        ),
    ),
    flags=(
        flags.CONTEXT_FILES,
        flags.CONTEXT_VALUES,
        flags.RESULTS,
        Flag(
            "include-full-operation",
            "No effect: the Operation is always printed with its spec and metadata.",
            short="o",
            no_effect="the Operation is always printed with its spec and metadata",
        ),
        flags.REQUIRED_RESOURCES,
        Flag(
            "required-schemas",
            "A directory of JSON files specifying OpenAPI schemas to pass to the function pipeline.",
            kind="path",
            placeholder="DIR",
        ),
        Flag(
            "watched-resource",
            "A YAML file specifying the watched resource for WatchOperation rendering. The resource is also "
            "added to required resources.",
            short="w",
            kind="path",
            placeholder="PATH",
        ),
        flags.CONTEXT,
        flags.CREDENTIALS,
        flags.ANNOTATIONS,
        flags.RUNTIME,
        *SHELL_FLAGS,
        flags.OUTPUT,
        flags.TIMEOUT,
        flags.PROJECT,
        *flags.ACCEPTED,
    ),
)
